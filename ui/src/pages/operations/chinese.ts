// The fields of the built-in kinds in Chinese. What a field is for comes from the server in English, and is looked up by
// that very text: a kind of another package, or a text that has changed since, is shown as the server says it.
import { isRecord, type JsonSchema } from "../../parts/schema/shape";

const TEXTS: Record<string, readonly [label: string, help: string]> = {
  // Of every kind.
  "The data source to work on, by name.": ["数据源", "要操作的数据源。"],
  "How long a statement may wait for a lock before it lets the others go first.": [
    "等锁超时（毫秒）",
    "一条语句最多等锁多久，超过后先让别人执行。",
  ],
  "How often it then tries again.": ["等锁重试次数", "等锁超时后重试的次数。"],
  "How long one statement may take; by default as long as it takes.": [
    "语句超时（毫秒）",
    "单条语句的最长执行时间；默认不限。",
  ],
  "Look, plan and check only; nothing is changed.": ["试运行", "只查看、规划和检查，不做任何改动。"],
  "Wait between chunks while a replica is further behind than this.": [
    "最大副本延迟（秒）",
    "副本延迟超过此值时，在两块之间等待。",
  ],
  "Wait between chunks while more sessions than this are active.": [
    "最大活跃会话数",
    "活跃会话多于此数时，在两块之间等待。",
  ],
  "Work only from this time of day on (UTC), such as `22:00`: it begins then, and waits between chunks.": [
    "时间窗起",
    "只在每天此时刻（UTC）之后工作，例如 22:00；到时开始，其余时间在两块之间等待。",
  ],
  "Until this time of day (UTC); may be on the next day.": ["时间窗止", "到此时刻（UTC）为止，可以是次日。"],
  "How what was copied or changed is compared with what was there.": [
    "校验方式",
    "如何将复制或修改的内容与原内容比对：hash 按校验和，count 按行数，none 不比对。",
  ],
  "The table's schema (PostgreSQL, SQL Server) or database (MariaDB, MySQL); by default the usual one.": [
    "模式",
    "表所在的模式（PostgreSQL、SQL Server）或数据库（MariaDB、MySQL）；默认为常用的那个。",
  ],
  "The table to work on.": ["表", "要操作的表。"],

  // Partitions.
  "The values at which partitions begin or end; those that are there already are left alone.": [
    "边界",
    "分区开始或结束处的值；已存在的边界保持不变。",
  ],
  "In place of boundaries: how much one partition holds, such as `1 month`, `7 days` or, of numbers, `100000`.": [
    "间隔",
    "代替边界：一个分区容纳多少，例如 1 month、7 days；数字键如 100000。",
  ],
  "With an interval: how many partitions there should be ahead of the present one.": [
    "预建数量",
    "使用间隔时：在当前分区之后预先建好多少个分区。",
  ],
  "With an interval: where the first partition begins; by default where the last one ends.": [
    "起点",
    "使用间隔时：第一个分区从何处开始；默认从最后一个分区的末尾开始。",
  ],
  "What a partition is called: `{table}`, `{low}`, `{high}`, and of dates `{year}`, `{month}`, `{day}`, `{hour}`.": [
    "命名模板",
    "分区的名称：{table}、{low}、{high}；日期还可用 {year}、{month}、{day}、{hour}。",
  ],
  "Where the partitions lie; SQL Server: the filegroup. By default where the last one does.": [
    "表空间",
    "分区存放的位置；SQL Server 为文件组。默认与最后一个分区相同。",
  ],
  "PostgreSQL: what to do with rows of the default partition that belong into a new one.": [
    "默认分区策略",
    "PostgreSQL：默认分区中属于新分区的行如何处理：fail 拒绝，move 移动。",
  ],
  "How: the catalog alone (one side is empty), by copying while others write (PostgreSQL), or as the database does it by itself (MariaDB, MySQL, SQL Server; writers wait). By default the first of these that can be done.":
    [
      "方式",
      "metadata 只改目录（一侧为空时），online 边写边复制（PostgreSQL），native 由数据库自行完成（MariaDB、MySQL、SQL Server，写入需等待）。默认采用其中第一个可行的。",
    ],
  "Online: how many rows are copied at a time.": ["每块行数", "online 方式：每次复制多少行。"],
  "Online: how long what was replaced is kept, detached; then the next operation on the table drops it. 0: not.": [
    "旧分区保留（小时）",
    "online 方式：被替换的分区分离后保留多久，之后由该表的下一次操作删除。0 表示不保留。",
  ],
  "The name of the new partition (of a split, the one above the boundary); by default after its lower bound, and of a merge that of the first.":
    ["分区名称", "新分区的名称（拆分时为边界以上的那个）；默认按下边界命名，合并时沿用第一个的名称。"],
  "The value at which the upper part begins.": ["边界", "上半部分从此值开始。"],
  "The partitions, two or more, side by side.": ["分区", "两个或更多相邻的分区。"],
  "In their place: the boundary that goes.": ["边界", "代替分区：要去掉的边界。"],

  // Archiving.
  "The partitions to switch out, by name (SQL Server: by number); or give `older_than`.": [
    "分区",
    "要切换出去的分区名称（SQL Server 为编号）；或填写“早于”。",
  ],
  "Every partition whose whole range, and whose every row, lies longer ago than this: `400d`, `13m`, `2y`.": [
    "早于",
    "整个范围以及每一行都早于此时长的分区：400d、13m（月）、2y。",
  ],
  "The schema or database that the archived table moves to; by default the table's own.": [
    "目标模式",
    "归档表移到的模式或数据库；默认与原表相同。",
  ],
  "The archived table's name, in which `{partition}` stands for the partition's; or, on PostgreSQL, a table that is partitioned alike, which takes the partition over. By default the partition's own name.":
    [
      "目标表",
      "归档表的名称，{partition} 代表分区名；在 PostgreSQL 上也可以是同样分区的表，由它接管该分区。默认为分区自身的名称。",
    ],
  "PostgreSQL: detach without a lock that stops readers and writers; `auto`: where it can.": [
    "并发分离",
    "PostgreSQL：分离时不阻塞读写；auto 表示在可行时采用。",
  ],
  "What becomes of the archived table: it stays, for good or to be exported to files, or it is dropped.": [
    "归档之后",
    "归档表如何处理：keep 保留，export 保留以便导出到文件，drop 删除。",
  ],
  "Whether the archived table keeps its foreign keys, so that the rows they name cannot be deleted.": [
    "外键策略",
    "归档表是否保留外键；保留则外键引用的行无法删除。",
  ],
  "Archive this partition; by default the whole table.": ["分区", "只归档此分区；默认归档整张表。"],
  "Archive the rows for which this holds: one expression of SQL, such as `created_at < '2025-01-01'`.": [
    "条件",
    "归档满足此 SQL 表达式的行，例如 created_at < '2025-01-01'。",
  ],
  "A folder on the executor's machine, as an absolute path; each archive gets a folder of its own in it.": [
    "输出目录",
    "执行器所在机器上的目录（绝对路径）；每次归档在其中新建一个目录。",
  ],
  "Parquet keeps every type; CSV can be read by anything.": ["格式", "Parquet 保留全部类型；CSV 通用性最好。"],
  "How the files are compressed.": ["压缩", "文件的压缩方式。"],
  "How many rows each file has; one file is written, compared and deleted at a time.": [
    "每个文件行数",
    "每个文件包含的行数；逐个文件写入、比对和删除。",
  ],
  "Delete the archived rows, once the files were read again and found to hold them.": [
    "校验后删除",
    "文件回读并确认无误后，删除已归档的行。",
  ],
  "The columns of a unique key to go by; by default the primary key.": ["键列", "按哪个唯一键的列遍历；默认主键。"],
  "The data source to copy to, by name; by default the same.": ["目标数据源", "复制到哪个数据源；默认同一个。"],
  "The target's schema or database; by default the source's, or the usual one of the other data source.": [
    "目标模式",
    "目标表的模式或数据库；默认与源相同，或另一数据源常用的那个。",
  ],
  "The table to copy to; by default the one of the same name.": ["目标表", "复制到哪张表；默认同名。"],
  "Make the target table if it is not there.": ["创建目标表", "目标表不存在时创建。"],
  "Which rows, as one expression of SQL; by default all.": ["条件", "哪些行，一个 SQL 表达式；默认全部。"],
  "The columns to go by, which tell rows apart; by default the primary key.": [
    "键列",
    "按哪些能区分行的列遍历；默认主键。",
  ],
  "Move: delete each row from the source once it is in the target.": ["删除源数据", "移动：行写入目标后从源表删除。"],
  "What to do where the target has a row of the same key.": ["冲突处理", "目标已有同键的行时如何处理。"],
  "How many rows a chunk has in the beginning.": ["每块行数", "起始时每块的行数。"],
  "How long a chunk should take: its size is adapted.": ["每块目标耗时（毫秒）", "据此自动调整每块的大小。"],
  "The archive's manifest.jsonl on the executor's machine, as an absolute path.": [
    "清单文件",
    "执行器所在机器上归档的 manifest.jsonl（绝对路径）。",
  ],
  "The data source to restore to; by default `data_source`.": ["目标数据源", "恢复到哪个数据源；默认为上面的数据源。"],
  "The table's schema or database; by default the usual one.": ["目标模式", "表的模式或数据库；默认为常用的那个。"],
  "The table to restore to; by default the one that was archived.": ["目标表", "恢复到哪张表；默认为当初归档的表。"],
  "Make the table if it is missing, with the archived columns and the primary key.": [
    "创建目标表",
    "表不存在时按归档的列和主键创建。",
  ],

  // Cleaning up.
  "A condition in SQL for the rows that go, such as `status = 'done'`.": [
    "条件",
    "要删除的行须满足的 SQL 条件，例如 status = 'done'。",
  ],
  "Rows older than this go: `36h`, `400d`, `6w`, `13m` (months), `2y`; reckoned in UTC, from the beginning of that hour, day or month. Together with `where` both must hold.":
    [
      "早于",
      "删除早于此时长的行：36h、400d、6w、13m（月）、2y；按 UTC 从该小时、日或月的开始计算。与“条件”同时填写时两者都须满足。",
    ],
  "The column that says how old a row is.": ["时间列", "表示行时间的列。"],
  "The columns of the unique key to go by; by default the primary key.": ["键列", "按哪个唯一键的列遍历；默认主键。"],
  "How many rows the first chunk has; each chunk is one transaction.": ["每块行数", "第一块的行数；每块是一个事务。"],
  "How long a chunk should take: the next ones become larger or smaller; empty: all are alike.": [
    "每块目标耗时（毫秒）",
    "后续各块据此变大或变小；留空则各块相同。",
  ],
  "How long to wait between two chunks.": ["块间等待（毫秒）", "两块之间等待多久。"],
  "Delete no more rows than this; by default all that qualify.": [
    "最多删除行数",
    "最多删除多少行；默认全部符合条件的行。",
  ],
  "Drop partitions of which every row goes, in place of deleting the rows; never together with `max_rows`.": [
    "优先删除分区",
    "整个分区的行都要删除时直接删除分区；不能与“最多删除行数”同时使用。",
  ],
  "The log table's schema (PostgreSQL, SQL Server) or database (MariaDB, MySQL); by default the usual one.": [
    "模式",
    "日志表所在的模式（PostgreSQL、SQL Server）或数据库（MariaDB、MySQL）；默认为常用的那个。",
  ],
  "The log table; may be left out where only files go.": ["表", "日志表；只清理文件时可不填。"],
  "Log files of the executor's machine that go once they were last written longer than `older_than` ago, such as `/var/log/shop/*.log`; `**` means folders of any depth.":
    [
      "日志文件",
      "执行器所在机器上的日志文件，最后写入早于“早于”时长的会被删除，例如 /var/log/shop/*.log；** 表示任意层目录。",
    ],
  "The tables' schema (PostgreSQL, SQL Server) or database (MariaDB, MySQL); by default the usual one.": [
    "模式",
    "表所在的模式（PostgreSQL、SQL Server）或数据库（MariaDB、MySQL）；默认为常用的那个。",
  ],
  "The names of the tables: `*` is any text, `?` any sign, `[ab]` one of these; such as `tmp_*`.": [
    "表名模式",
    "表的名称：* 为任意文本，? 为任意字符，[ab] 为其中之一；例如 tmp_*。",
  ],
  "Tables older than this go: `36h`, `14d`, `6w`, `3m` (months). Where the database does not know how old a table is (PostgreSQL, SQLite), it counts from when this operation first saw it.":
    [
      "最短存在时间",
      "处理早于此时长的表：36h、14d、6w、3m（月）。数据库不知道表的创建时间时（PostgreSQL、SQLite），从本操作首次看到它算起。",
    ],
  "Names or patterns of tables that stay.": ["排除", "要保留的表名或模式。"],
  "How long a table is kept under another name before this operation, done again, drops it.": [
    "隔离时长（小时）",
    "表改名保留多久，之后再次执行本操作时才删除。",
  ],

  // Upkeep.
  "The indexes, by name; of a partitioned table those of all its partitions are meant.": [
    "索引",
    "索引名称；分区表则包括所有分区上的索引。",
  ],
  "In place of names: all of which so much holds nothing, by estimate; 0 for all.": [
    "最小膨胀率（%）",
    "代替名称：估算膨胀率达到此值的所有索引；0 表示全部。",
  ],
  "Let others read and write meanwhile; it takes longer.": ["并发重建", "期间允许他人读写；耗时更长。"],
  "Begin no other index after this time; those that are left are told.": [
    "最长时间（分钟）",
    "超过此时间不再开始新的索引；剩下的会列出。",
  ],
  "The tables' schema or database; by default the usual one.": ["模式", "表的模式或数据库；默认为常用的那个。"],
  "The tables, by name.": ["表", "表的名称。"],
  "Of a partitioned table, only these partitions; by default all.": ["分区", "分区表：只处理这些分区；默认全部。"],
  "SQL Server: how much of each table is read; elsewhere the database decides.": [
    "采样比例（%）",
    "SQL Server：每张表读取多少；其他数据库自行决定。",
  ],
  "Also the partitioned tables themselves, which PostgreSQL's autovacuum never looks at.": [
    "包括父表",
    "也处理分区表本身，PostgreSQL 的 autovacuum 从不处理它们。",
  ],
  "`logical`: one database, which any newer server can restore; `physical`: all files of a PostgreSQL server.": [
    "方法",
    "logical：单个数据库，可恢复到更新版本的服务器；physical：PostgreSQL 服务器的全部文件。",
  ],
  "The folder that backups are kept in, on the executor's machine (SQL Server: on the server's).": [
    "输出目录",
    "存放备份的目录，在执行器所在机器上（SQL Server 为服务器上）。",
  ],
  "How many tables are written at once, where the database's program can.": [
    "并行数",
    "同时写出多少张表，视数据库工具而定。",
  ],
  "By default gzip; none for SQLite and physical backups.": ["压缩", "默认 gzip；SQLite 和物理备份默认不压缩。"],
  "Restore it for trial into a scratch database, compare the rows of each table, and drop that again.": [
    "恢复校验",
    "试恢复到临时数据库，逐表比对行，然后删除。",
  ],
  "Keep so many backups of this data source in the folder and remove older ones; by default all.": [
    "保留份数",
    "目录中保留此数据源的备份份数，更旧的会删除；默认全部保留。",
  ],

  // Your own, and the sample.
  "What is done, in this order.": ["步骤", "按此顺序执行。"],
  "What it does, in words; unlike any other of the operation.": ["名称", "说明做什么；在本操作中不能重复。"],
  "A statement, or a list of them.": ["SQL", "一条语句，或多条语句。"],
  "A query whose first value says whether it has been done (true, or not 0): if so it is skipped.": [
    "检查语句",
    "一个查询，其第一个值表示是否已完成（true 或非 0）：已完成则跳过。",
  ],
  "Whether its statements are one transaction; some cannot be in one at all (`CREATE INDEX CONCURRENTLY`).": [
    "同一事务",
    "各语句是否在同一个事务中；有些语句不能在事务中执行（如 CREATE INDEX CONCURRENTLY）。",
  ],
  "How long each of its statements may take; by default `statement_timeout_ms`.": [
    "超时（毫秒）",
    "每条语句的最长执行时间；默认同语句超时。",
  ],
  "The statement that takes it back: executed by the undo of the whole, and if the step fails in no transaction.": [
    "撤销语句",
    "撤销此步骤的语句：撤销整个操作时执行；步骤不在事务中且失败时也会执行。",
  ],
  "The schema or database to make it in; by default the usual one.": [
    "模式",
    "在哪个模式或数据库中创建；默认为常用的那个。",
  ],
  "What it is called; there must be none of that name.": ["表", "表的名称；不能已存在。"],
  "How many rows it gets: orders that spread evenly over the twelve months of 2025.": [
    "行数",
    "包含多少行：均匀分布在 2025 年十二个月的订单。",
  ],
};

/** The schema with what is known in Chinese: of its fields, and of those of the things in it. */
export function inChinese(schema: JsonSchema): JsonSchema {
  const said = { ...schema };
  if (isRecord(schema.properties)) said.properties = all(schema.properties, field);
  if (isRecord(schema.$defs)) said.$defs = all(schema.$defs, (one) => (isRecord(one) ? inChinese(one) : one));
  return said;
}

function all(given: Record<string, unknown>, say: (one: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, say(one)]));
}

function field(given: unknown): unknown {
  if (!isRecord(given) || typeof given.description !== "string") return given;
  const text = TEXTS[given.description.replaceAll(/\s+/g, " ")];
  return text === undefined ? given : { ...given, title: text[0], description: text[1] };
}
