-- statistics_update on sqlserver, plan 86b17952d2140331f7e017b63e27d474
-- To be read and run by hand: Hourhand has never executed this on a server.

-- 1. analyze: analyze dbo.order]s
--    locks: Sch-S on dbo.order]s: reads and writes go on
UPDATE STATISTICS [dbo].[order]]s] WITH SAMPLE 12.5 PERCENT;

-- 2. analyze: analyze dbo.items
--    locks: Sch-S on dbo.items: reads and writes go on
UPDATE STATISTICS [dbo].[items] WITH SAMPLE 12.5 PERCENT;
