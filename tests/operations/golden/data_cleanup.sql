-- data_cleanup on sqlserver, plan d7c8348cbf1be18b1435c5b4de7b895c
-- To be read and run by hand: Hourhand has never executed this on a server.
-- Note: run it whole, as one batch: its variables end with the batch
-- Note: an index on the columns of the condition keeps each chunk from reading the whole table
-- Note: whole partitions go faster by TRUNCATE TABLE … WITH (PARTITIONS (…)), or by archive_switch

-- 1. delete: delete rows of app.log]s
--    locks: the rows of a chunk; keep it below 5,000, or SQL Server locks all of log]s
DECLARE @cutoff datetime2 = DATEADD(day, DATEDIFF(day, 0, SYSUTCDATETIME()) - 42, 0);
DECLARE @chunk int = 2000, @deleted int = 1, @total bigint = 0;
SET LOCK_TIMEOUT 1000;
WHILE @deleted > 0 AND @total < 100000
BEGIN
    IF @total + @chunk > 100000 SET @chunk = 100000 - @total;
    DELETE TOP (@chunk) FROM [app].[log]]s] WHERE [written at] < @cutoff AND (level <> N'error');
    SET @deleted = @@ROWCOUNT;
    SET @total = @total + @deleted;
    WAITFOR DELAY '00:00:01.500';
END;
SELECT @total AS rows_deleted, COUNT_BIG(*) AS rows_left FROM [app].[log]]s] WHERE [written at] < @cutoff AND (level <> N'error');
