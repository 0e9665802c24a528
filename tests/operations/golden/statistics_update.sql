-- statistics_update on sqlserver, plan 8e785967dc08424486784446a5f9978f
-- To be read and run by hand: Hourhand has never executed this on a server.

-- 1. analyze: analyze dbo.orders
--    locks: Sch-S on dbo.orders: reads and writes go on
UPDATE STATISTICS [dbo].[orders] WITH FULLSCAN;
