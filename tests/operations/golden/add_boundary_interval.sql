-- add_boundary on sqlserver, plan 8d4aab353c28b42a64f90036e04a14eb
-- To be read and run by hand: Hourhand has never executed this on a server.
-- Note: RANGE RIGHT is assumed: a boundary is the first value of the partition above it; the script stops at RANGE LEFT
-- Note: a partition function may serve several tables and indexes: the script lists them first, and all of them change

-- 1. find: find the partition function
SET XACT_ABORT ON;
SET DATEFORMAT ymd;
DECLARE @table nvarchar(600) = N'[dbo].[orders]', @function sysname, @function_id int, @right bit, @key sysname,
        @filegroup sysname = N'fast', @next datetime2(3), @sql nvarchar(max);
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

-- 2. find: find the filegroup
SELECT TOP (1) @filegroup = g.name
FROM sys.partition_schemes AS s
JOIN sys.destination_data_spaces AS d ON d.partition_scheme_id = s.data_space_id
JOIN sys.filegroups AS g ON g.data_space_id = d.data_space_id
WHERE s.function_id = @function_id AND @filegroup IS NULL
ORDER BY d.destination_id DESC;

-- 3. check: refuse a last partition that has rows
IF EXISTS (SELECT 1 FROM sys.partitions AS p
    JOIN sys.indexes AS i ON i.object_id = p.object_id AND i.index_id = p.index_id
    JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id AND s.function_id = @function_id
    JOIN sys.partition_functions AS f ON f.function_id = s.function_id AND f.fanout = p.partition_number
    WHERE p.rows > 0) BEGIN THROW 50003, N'the last partition has rows, which a new boundary would move: use split_boundary', 1; END;

-- 4. add: add boundaries ahead of time
--    locks: Sch-M on dbo.orders and every table of the function, for a moment
WHILE 4 >= (SELECT COUNT(*) FROM sys.partition_range_values AS v WHERE v.function_id = @function_id AND CONVERT(datetime2(3), v.value) > SYSUTCDATETIME())
BEGIN
    SET @next = DATEADD(MONTH, 1, (SELECT MAX(CONVERT(datetime2(3), v.value)) FROM sys.partition_range_values AS v WHERE v.function_id = @function_id));
    SELECT @sql = STRING_AGG(CONVERT(nvarchar(max), N'ALTER PARTITION SCHEME ' + QUOTENAME(s.name)
    + N' NEXT USED ' + QUOTENAME(@filegroup)), N'; ')
FROM sys.partition_schemes AS s WHERE s.function_id = @function_id;
    EXEC sys.sp_executesql @sql;
    SET @sql = N'ALTER PARTITION FUNCTION ' + QUOTENAME(@function) + N'() SPLIT RANGE ('''
        + CONVERT(nvarchar(30), @next, 126) + N''')';
    EXEC sys.sp_executesql @sql;
END;
