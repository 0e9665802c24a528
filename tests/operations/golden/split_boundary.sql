-- split_boundary on sqlserver, plan fc0880b274704e46b8fdf77766f7fc70
-- To be read and run by hand: Hourhand has never executed this on a server.
-- Note: RANGE RIGHT is assumed: a boundary is the first value of the partition above it; the script stops at RANGE LEFT
-- Note: a partition function may serve several tables and indexes: the script lists them first, and all of them change
-- Note: a split of partitions that have rows moves them under the lock and writes them to the log: try it on a copy

-- 1. find: find the partition function
SET XACT_ABORT ON;
SET DATEFORMAT ymd;
DECLARE @table nvarchar(600) = N'[s].[o]]rd''ers]', @function sysname, @function_id int, @right bit, @key sysname,
        @filegroup sysname = NULL, @next datetime2(3), @sql nvarchar(max);
SELECT @function = f.name, @function_id = f.function_id, @key = c.name,
       @right = f.boundary_value_on_right
FROM sys.indexes AS i
JOIN sys.partition_schemes AS s ON s.data_space_id = i.data_space_id
JOIN sys.partition_functions AS f ON f.function_id = s.function_id
JOIN sys.index_columns AS x ON x.object_id = i.object_id AND x.index_id = i.index_id AND x.partition_ordinal = 1
JOIN sys.columns AS c ON c.object_id = x.object_id AND c.column_id = x.column_id
WHERE i.object_id = OBJECT_ID(@table) AND i.index_id IN (0, 1);
IF @function IS NULL BEGIN THROW 50001, N's.o]rd''ers is not there, or is not partitioned', 1; END;
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

-- 3. split: split at it's
--    locks: Sch-M on s.o]rd'ers and every table of the function: nobody reads or writes while rows are moved
IF EXISTS (SELECT 1 FROM sys.partition_range_values AS v WHERE v.function_id = @function_id AND TRY_CONVERT(nvarchar(4000), v.value) = CONVERT(nvarchar(4000), N'it''s')) SET @sql = NULL ELSE SELECT @sql = STRING_AGG(CONVERT(nvarchar(max), N'ALTER PARTITION SCHEME ' + QUOTENAME(s.name)
    + N' NEXT USED ' + QUOTENAME(@filegroup)), N'; ')
FROM sys.partition_schemes AS s WHERE s.function_id = @function_id;
IF @sql IS NOT NULL EXEC sys.sp_executesql @sql;
IF @sql IS NOT NULL SET @sql = N'ALTER PARTITION FUNCTION ' + QUOTENAME(@function) + N'() SPLIT RANGE (' + N'N''it''''s''' + N')';
IF @sql IS NOT NULL EXEC sys.sp_executesql @sql;

-- 4. verify: verify it's
IF NOT EXISTS (SELECT 1 FROM sys.partition_range_values AS v WHERE v.function_id = @function_id AND TRY_CONVERT(nvarchar(4000), v.value) = CONVERT(nvarchar(4000), N'it''s')) BEGIN THROW 50005, N'it''s is not there', 1; END;
