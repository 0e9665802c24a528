-- archive_switch on sqlserver, plan 2a7995b3abcad10238a1192d39e15723
-- To be read and run by hand: Hourhand has never executed this on a server.
-- Note: RANGE RIGHT is assumed: a boundary is the first value of the partition above it; the script stops at RANGE LEFT
-- Note: partitions are named by their numbers, of which the lowest is 1
-- Note: the target must have the same columns, constraints and indexes, lie on the same filegroup, and be empty; one that is partitioned by the same function takes each partition at its own number
-- Note: a table that is referred to by foreign keys cannot be switched: drop those first

-- 1. find: find the partition function
SET XACT_ABORT ON;
SET DATEFORMAT ymd;
DECLARE @table nvarchar(600) = N'[dbo].[orders]', @function sysname, @function_id int, @right bit, @key sysname,
        @filegroup sysname = NULL, @next datetime2(3), @sql nvarchar(max);
SELECT @function = f.name, @function_id = f.function_id, @key = c.name,
       @right = f.boundary_value_on_right
FROM sys.indexes AS i
JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id
JOIN sys.partition_functions AS f ON f.function_id = s.function_id
JOIN sys.index_columns AS x ON x.object_id = i.object_id AND x.index_id = i.index_id AND x.partition_ordinal = 1
JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE i.object_id = OBJECT_ID(@table) AND i.index_id IN (0, 1);
IF @function IS NULL BEGIN THROW 50001, N'dbo.orders is not there, or is not partitioned', 1; END;
IF @right = 0 BEGIN THROW 50002, N'the function is RANGE LEFT: shift the boundaries by one, by hand', 1; END;
SELECT OBJECT_SCHEMA_NAME(i.object_id) AS [schema], OBJECT_NAME(i.object_id) AS [table], i.name AS [index]
FROM sys.indexes AS i JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id
WHERE s.function_id = @function_id
ORDER BY 1, 2, 3;

-- 2. find: choose the partitions
DECLARE @leaving TABLE (n int PRIMARY KEY);
DECLARE @n int, @before bigint, @after bigint, @parted bit = 0, @cutoff datetime2(3);
SET @cutoff = DATEADD(MONTH, DATEDIFF(MONTH, CONVERT(datetime2(3), '2000-01-01'), DATEADD(MONTH, -13, SYSUTCDATETIME())), CONVERT(datetime2(3), '2000-01-01'));
INSERT INTO @leaving (n) SELECT v.boundary_id FROM sys.partition_range_values AS v WHERE v.function_id = @function_id AND CONVERT(datetime2(3), v.value) <= @cutoff;
SELECT n AS [partition], @cutoff AS [lies before] FROM @leaving ORDER BY n;

-- 3. check: look at the target
DECLARE @target nvarchar(600) = '[archive].[old orders]';
IF OBJECT_ID(@target) IS NULL BEGIN THROW 50006, N'the target table is not there: create it, alike and empty', 1; END;
SELECT @parted = 1 FROM sys.indexes AS i JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id WHERE i.object_id = OBJECT_ID(@target) AND i.index_id IN (0, 1) AND s.function_id = @function_id;

-- 4. switch: switch the partitions
--    locks: Sch-M on dbo.orders and the target, waited for at low priority for a minute
WHILE EXISTS (SELECT 1 FROM @leaving)
BEGIN
    SELECT @n = MIN(n) FROM @leaving;
    SET @sql = N'SELECT @rows = COUNT_BIG(*) FROM ' + @table + N' WHERE $PARTITION.' + QUOTENAME(@function)
        + N'(' + QUOTENAME(@key) + N') = @n';
    EXEC sys.sp_executesql @sql, N'@n int, @rows bigint OUTPUT', @n = @n, @rows = @before OUTPUT;
    SET @sql = N'ALTER TABLE ' + @table + N' SWITCH PARTITION ' + CONVERT(nvarchar(10), @n) + N' TO ' + @target
        + CASE WHEN @parted = 1 THEN N' PARTITION ' + CONVERT(nvarchar(10), @n) ELSE N'' END
        + N' WITH (WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1 MINUTES, ABORT_AFTER_WAIT = SELF))';
    EXEC sys.sp_executesql @sql;
    SET @sql = N'SELECT @rows = COUNT_BIG(*) FROM ' + @target
        + CASE WHEN @parted = 1 THEN N' WHERE $PARTITION.' + QUOTENAME(@function) + N'(' + QUOTENAME(@key) + N') = @n'
               ELSE N'' END;
    EXEC sys.sp_executesql @sql, N'@n int, @rows bigint OUTPUT', @n = @n, @rows = @after OUTPUT;
    IF @before <> @after BEGIN THROW 50007, N'the target has not as many rows as the partition had', 1; END;
    SELECT @n AS [partition], @after AS [rows];
    DELETE FROM @leaving WHERE n = @n;
END;
