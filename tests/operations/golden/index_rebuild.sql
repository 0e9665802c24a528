-- index_rebuild on sqlserver, plan a5b153a35ba7cc369338bf7d76d83c91
-- To be read and run by hand: Hourhand has never executed this on a server.

-- 1. rebuild: rebuild by 'day'
--    locks: Sch-M on dbo.order]s for a moment, at low priority: reads and writes go on (ONLINE needs the Enterprise edition)
ALTER INDEX [by 'day'] ON [dbo].[order]]s] REBUILD WITH (ONLINE = ON (WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1 MINUTES, ABORT_AFTER_WAIT = SELF)), RESUMABLE = ON, MAX_DURATION = 60 MINUTES);

-- 2. rebuild: rebuild x]y
--    locks: Sch-M on dbo.order]s for a moment, at low priority: reads and writes go on (ONLINE needs the Enterprise edition)
ALTER INDEX [x]]y] ON [dbo].[order]]s] REBUILD WITH (ONLINE = ON (WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1 MINUTES, ABORT_AFTER_WAIT = SELF)), RESUMABLE = ON, MAX_DURATION = 60 MINUTES);

-- index_rebuild on sqlserver, plan c7a596b528a2703f3909ca1107671814
-- To be read and run by hand: Hourhand has never executed this on a server.

-- 1. rebuild: write the statements for indexes that are fragmented by 30 % or more; run what it returns
--    locks: Sch-M on dbo.order]s for a moment, at low priority: reads and writes go on (ONLINE needs the Enterprise edition)
SELECT N'ALTER INDEX ' + QUOTENAME(i.name) + ' ON [dbo].[order]]s] REBUILD WITH (ONLINE = ON (WAIT_AT_LOW_PRIORITY (MAX_DURATION = 1 MINUTES, ABORT_AFTER_WAIT = SELF)), RESUMABLE = ON);' AS statement, s.avg_fragmentation_in_percent
FROM sys.dm_db_index_physical_stats(DB_ID(), OBJECT_ID('[dbo].[order]]s]'), NULL, NULL, 'LIMITED') AS s
JOIN sys.indexes AS i ON i.object_id = s.object_id AND i.index_id = s.index_id
WHERE i.index_id > 0 AND s.avg_fragmentation_in_percent >= 30
ORDER BY s.page_count;

-- index_rebuild on sqlserver, plan 7f16f70f71d0ea2df1809f7f409170e0
-- To be read and run by hand: Hourhand has never executed this on a server.

-- 1. rebuild: rebuild by 'day'
--    locks: Sch-M on dbo.order]s: nobody reads or writes
ALTER INDEX [by 'day'] ON [dbo].[order]]s] REBUILD WITH (ONLINE = OFF);

-- 2. rebuild: rebuild x]y
--    locks: Sch-M on dbo.order]s: nobody reads or writes
ALTER INDEX [x]]y] ON [dbo].[order]]s] REBUILD WITH (ONLINE = OFF);
