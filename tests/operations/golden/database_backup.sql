-- database_backup on sqlserver, plan 8e6931075ff258e29195eeecf3d8a33a
-- To be read and run by hand: Hourhand has never executed this on a server.

-- 1. dump: back shop]s up, and read it back: one batch
DECLARE @file nvarchar(1000) = N'D:\back''ups\shop]s-' + FORMAT(SYSUTCDATETIME(), 'yyyyMMddTHHmmssZ') + N'.bak';
BACKUP DATABASE [shop]]s] TO DISK = @file WITH CHECKSUM, COPY_ONLY, FORMAT, INIT, COMPRESSION, STATS = 10;
RESTORE VERIFYONLY FROM DISK = @file WITH CHECKSUM;
