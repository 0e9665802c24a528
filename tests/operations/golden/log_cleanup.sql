-- log_cleanup on sqlserver, plan 5eb7ad90a7b9458bbe069f3b83e90070
-- To be read and run by hand: Hourhand has never executed this on a server.
-- Note: run it whole, as one batch: its variables end with the batch
-- Note: an index on the columns of the condition keeps each chunk from reading the whole table
-- Note: whole partitions go faster by TRUNCATE TABLE … WITH (PARTITIONS (…)), or by archive_switch

-- 1. delete: delete rows of dbo.access_log
--    locks: the rows of a chunk; keep it below 5,000, or SQL Server locks all of access_log
DECLARE @cutoff datetime2 = DATEADD(month, DATEDIFF(month, 0, SYSUTCDATETIME()) - 24, 0);
DECLARE @chunk int = 2000, @deleted int = 1, @total bigint = 0;
SET LOCK_TIMEOUT 1000;
WHILE @deleted > 0
BEGIN
    DELETE TOP (@chunk) FROM [dbo].[access_log] WHERE [at] < @cutoff;
    SET @deleted = @@ROWCOUNT;
    SET @total = @total + @deleted;
END;
SELECT @total AS rows_deleted, COUNT_BIG(*) AS rows_left FROM [dbo].[access_log] WHERE [at] < @cutoff;
