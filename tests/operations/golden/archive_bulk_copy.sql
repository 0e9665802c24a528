-- archive_bulk_copy on sqlserver, plan 649d1d1c38246ad92fc485b04c34d912
-- To be read and run by hand: Hourhand has never executed this on a server.
-- Note: the target needs the same columns in the same order, and a unique key; identity columns of it: SET IDENTITY_INSERT ON, with the columns written out

-- 1. prepare: create the table orders_old
IF OBJECT_ID('[dbo].[orders_old]') IS NULL SELECT * INTO [dbo].[orders_old] FROM [dbo].[orders] WHERE 1 = 0;

-- 2. move: move the rows of orders
--    locks: rows of [dbo].[orders], chunk by chunk
SET XACT_ABORT ON;
SELECT TOP (0) [id], [created at] INTO #_hh_keys FROM [dbo].[orders];
SELECT TOP (0) [id], [created at] INTO #_hh_last FROM [dbo].[orders];
DECLARE @chunk int = 1, @moved bigint = 0, @written int, @there int;
WHILE @chunk > 0
BEGIN
  BEGIN TRANSACTION;
  DELETE FROM #_hh_keys;
  INSERT INTO #_hh_keys ([id], [created at]) SELECT TOP (1000) s.[id], s.[created at] FROM [dbo].[orders] AS s WITH (UPDLOCK, HOLDLOCK) WHERE (created_at < '2025-01-01') AND (NOT EXISTS (SELECT 1 FROM #_hh_last) OR EXISTS (SELECT 1 FROM #_hh_last AS l WHERE (s.[id] > l.[id]) OR (s.[id] = l.[id] AND s.[created at] > l.[created at]))) ORDER BY s.[id], s.[created at];
  SET @chunk = @@ROWCOUNT;
  INSERT INTO [dbo].[orders_old] SELECT s.* FROM [dbo].[orders] AS s JOIN #_hh_keys AS k ON s.[id] = k.[id] AND s.[created at] = k.[created at];
  SET @written = @@ROWCOUNT;
  SELECT @there = COUNT(*) FROM [dbo].[orders_old] AS t JOIN #_hh_keys AS k ON t.[id] = k.[id] AND t.[created at] = k.[created at];
  IF @written <> @chunk OR @there <> @chunk
  BEGIN
    ROLLBACK TRANSACTION;
    RAISERROR(N'the chunk is not the same on both sides: nothing of it was changed', 16, 1);
    BREAK;
  END;
  DELETE s FROM [dbo].[orders] AS s WHERE EXISTS (SELECT 1 FROM #_hh_keys AS k WHERE s.[id] = k.[id] AND s.[created at] = k.[created at]);
  DELETE FROM #_hh_last;
  INSERT INTO #_hh_last ([id], [created at]) SELECT TOP (1) [id], [created at] FROM #_hh_keys ORDER BY [id] DESC, [created at] DESC;
  SET @moved = @moved + @chunk;
  COMMIT TRANSACTION;
END;
SELECT @moved AS moved;
