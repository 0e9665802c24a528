-- archive_restore on sqlserver, plan 40f0146c3d3988feaa1b11eaebb2cef6
-- To be read and run by hand: Hourhand has never executed this on a server.
-- Note: the lines of bcp are for a shell, with SERVER and DATABASE set; the statements are for the database
-- Note: manifest is here the file that bcp wrote
-- Note: a table with an identity column needs SET IDENTITY_INSERT, and a list of its columns in the INSERT

-- 1. prepare: make _hh_order]s_b8e2d1b1ff
SELECT TOP (0) * INTO [dbo].[_hh_order]]s_b8e2d1b1ff] FROM [dbo].[order]]s];

-- 2. load: load the file (executor)
-- bcp '[dbo].[_hh_order]]s_b8e2d1b1ff]' in '/var/archive/orders.bcp' -S "$SERVER" -d "$DATABASE" -T -N -b 10000 -E

-- 3. load: put the rows back
--    locks: row locks on dbo.order]s, or one on all of it if they are many
SET XACT_ABORT ON;
BEGIN TRANSACTION;
DECLARE @again bigint = (SELECT COUNT_BIG(*) FROM [dbo].[_hh_order]]s_b8e2d1b1ff]);
INSERT INTO [dbo].[order]]s] SELECT * FROM [dbo].[_hh_order]]s_b8e2d1b1ff];
IF ROWCOUNT_BIG() <> @again THROW 50000, 'not all rows came back', 1;
COMMIT TRANSACTION;

-- 4. clean: drop _hh_order]s_b8e2d1b1ff
DROP TABLE [dbo].[_hh_order]]s_b8e2d1b1ff];
