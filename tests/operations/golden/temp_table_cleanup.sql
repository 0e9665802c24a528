-- temp_table_cleanup on sqlserver, plan 7a161a77bbbc427fb005515546f5c5f8
-- To be read and run by hand: Hourhand has never executed this on a server.
-- Note: tables that a foreign key, a view or a procedure depends on are left alone
-- Note: leave out the EXEC at first, and read what is printed

-- 1. drop: drop what was long enough in quarantine
--    locks: Sch-M on each table for a moment
DECLARE @drop nvarchar(max) = N'';
SELECT @drop = @drop + N'DROP TABLE ' + QUOTENAME(s.name) + N'.' + QUOTENAME(t.name) + N';' FROM sys.tables AS t JOIN sys.schemas AS s ON s.schema_id = t.schema_id WHERE s.name = 'work'
  AND t.name LIKE '[_]hh[_]q[_]%' AND SUBSTRING(t.name, 18, 128) LIKE 'tmp[_][^x]_[%]%' AND NOT SUBSTRING(t.name, 18, 128) LIKE 'tmp[_]it''s[[]1%'
  AND DATEADD(hour, TRY_CAST(SUBSTRING(t.name, 15, 2) AS int), TRY_CAST(SUBSTRING(t.name, 7, 8) AS datetime2)) <= DATEADD(hour, -48, SYSDATETIME());
PRINT @drop;
EXEC sp_executesql @drop;

-- 2. quarantine: put in quarantine what is old enough
--    locks: Sch-M on each table for a moment
DECLARE @prefix nvarchar(20) = N'_hh_q_' + FORMAT(DATEADD(hour, 1, SYSDATETIME()), 'yyyyMMddHH') + N'_';
DECLARE @born_before datetime = DATEADD(day, DATEDIFF(day, 0, SYSDATETIME()) - 14, 0);
DECLARE @rename nvarchar(max) = N'';
SELECT @rename = @rename + N'EXEC sp_rename N''' + REPLACE(QUOTENAME(s.name) + N'.' + QUOTENAME(t.name), N'''', N'''''') + N''', N'''
  + REPLACE(@prefix + t.name, N'''', N'''''') + N''';' FROM sys.tables AS t JOIN sys.schemas AS s ON s.schema_id = t.schema_id WHERE s.name = 'work'
  AND t.name LIKE 'tmp[_][^x]_[%]%' AND NOT t.name LIKE 'tmp[_]it''s[[]1%' AND NOT t.name LIKE '[_]hh[_]%' AND t.create_date < @born_before
  AND LEN(@prefix + t.name) <= 128
  AND NOT EXISTS (SELECT 1 FROM sys.foreign_keys AS k WHERE k.referenced_object_id = t.object_id)
  AND NOT EXISTS (SELECT 1 FROM sys.sql_expression_dependencies AS d WHERE d.referenced_id = t.object_id);
PRINT @rename;
EXEC sp_executesql @rename;
