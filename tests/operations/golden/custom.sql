-- custom on sqlserver, plan 35b9bd1d1d2b22ccb1e92aec6d347d76
-- To be read and run by hand: Hourhand has never executed this on a server.

-- 1. execute: add a column
SET XACT_ABORT ON;
IF ISNULL((SELECT CASE WHEN COL_LENGTH('dbo.[order]]s]', 'note') IS NULL THEN 0 ELSE 1 END), 0) = 0
BEGIN
    BEGIN TRANSACTION;
    ALTER TABLE [dbo].[order]]s] ADD note nvarchar(50);
    COMMIT TRANSACTION;
END;
GO

-- 2. execute: view
SET XACT_ABORT ON;
BEGIN TRANSACTION;
EXEC sys.sp_executesql N'CREATE VIEW dbo.notes AS SELECT note FROM [dbo].[order]]s] WHERE note <> ''é''';
COMMIT TRANSACTION;
GO

-- 3. execute: free
-- give the client a time-out of 500 ms
SET XACT_ABORT ON;
BEGIN TRY
    CHECKPOINT;
END TRY
BEGIN CATCH
    PRINT 'again';
    THROW;
END CATCH;
GO
