-- archive_switch on sqlserver, plan 636ea6cb9289b7c360006d9f90aabd58
-- To be read and run by hand: Hourhand has never executed this on a server.
-- Note: RANGE RIGHT is assumed: a boundary is the first value of the partition above it; the script stops at RANGE LEFT
-- Note: partitions are named by their numbers, of which the lowest is 1

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
INSERT INTO @leaving (n) VALUES (1), (2);

-- 3. drop: truncate the partitions
--    locks: Sch-M on dbo.orders, for a moment
WHILE EXISTS (SELECT 1 FROM @leaving)
BEGIN
    SELECT @n = MIN(n) FROM @leaving;
    SET @sql = N'SELECT @rows = COUNT_BIG(*) FROM ' + @table + N' WHERE $PARTITION.' + QUOTENAME(@function)
        + N'(' + QUOTENAME(@key) + N') = @n';
    EXEC sys.sp_executesql @sql, N'@n int, @rows bigint OUTPUT', @n = @n, @rows = @before OUTPUT;
    SELECT @n AS [partition], @before AS [rows];
    SET @sql = N'TRUNCATE TABLE ' + @table + N' WITH (PARTITIONS (' + CONVERT(nvarchar(10), @n) + N'))';
    EXEC sys.sp_executesql @sql;
    DELETE FROM @leaving WHERE n = @n;
END;
