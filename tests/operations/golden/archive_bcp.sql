-- archive_bcp on sqlserver, plan 3a366a9cde6d072a8439e9fcb34f5d8b
-- To be read and run by hand: Hourhand has never executed this on a server.
-- Note: the lines of bcp are for a shell, with SERVER and DATABASE set; the statements are for the database
-- Note: bcp writes its own format (-N); format, compression and rows_per_file are not used
-- Note: stop at the first error: nothing is deleted unless the comparison passes, and no file is written over
-- Note: nothing may write to these rows meanwhile: the delete takes whatever the condition finds then

-- 1. export: export rows to a file (executor)
-- test ! -e '/var/archive/order]s.bcp' && bcp 'SELECT * FROM [dbo].[order]]s] WHERE (created_at < '\''2025-01-01'\'')' queryout '/var/archive/order]s.bcp' -S "$SERVER" -d "$DATABASE" -T -N -b 10000

-- 2. verify: make _hh_order]s_65505b350e
SELECT TOP (0) * INTO [dbo].[_hh_order]]s_65505b350e] FROM [dbo].[order]]s];

-- 3. verify: read the file again (executor)
-- bcp '[dbo].[_hh_order]]s_65505b350e]' in '/var/archive/order]s.bcp' -S "$SERVER" -d "$DATABASE" -T -N -b 10000 -E

-- 4. verify: compare both ways
DECLARE @ours bigint = (SELECT COUNT_BIG(*) FROM (SELECT * FROM [dbo].[order]]s] WHERE (created_at < '2025-01-01')) AS ours);
DECLARE @again bigint = (SELECT COUNT_BIG(*) FROM [dbo].[_hh_order]]s_65505b350e]);
IF @ours <> @again THROW 50000, 'the file has another number of rows than the table', 1;
IF EXISTS (SELECT * FROM [dbo].[order]]s] WHERE (created_at < '2025-01-01') EXCEPT SELECT * FROM [dbo].[_hh_order]]s_65505b350e]) THROW 50000, 'the file has not all rows of the table', 1;
IF EXISTS (SELECT * FROM [dbo].[_hh_order]]s_65505b350e] EXCEPT SELECT * FROM [dbo].[order]]s] WHERE (created_at < '2025-01-01')) THROW 50000, 'the file has rows that the table does not have', 1;

-- 5. delete: delete what was archived
--    locks: row locks on dbo.order]s, 5000 rows at a time
DECLARE @gone int = 1;
WHILE @gone > 0 BEGIN DELETE TOP (5000) FROM [dbo].[order]]s] WHERE (created_at < '2025-01-01'); SET @gone = @@ROWCOUNT; END;

-- 6. clean: drop _hh_order]s_65505b350e
DROP TABLE [dbo].[_hh_order]]s_65505b350e];
