// The steps in their order; each opens to the statements that it executes.
import { Table, Tag, Tooltip, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { Json } from "../../parts/Json";
import { bytesOf, countOf } from "./figures";
import { stopsOf, type PlanStep } from "./plan";
import { usePlanWords } from "./words";

const PAGE = 50;

export function StepTable({ steps }: { steps: readonly PlanStep[] }) {
  const { t } = useTranslation("operations");
  const say = usePlanWords();
  const dash = <span className="dim">–</span>;
  const columns: TableColumnsType<PlanStep> = [
    { title: "#", dataIndex: "number", align: "end", width: 44 },
    { title: t("steps.phase"), dataIndex: "phase", width: 96, render: say.phase },
    {
      title: t("steps.step"),
      dataIndex: "step",
      width: 300,
      render: (name: string, step) => (
        <>
          {name} {step.side !== "source" && <Tag variant="filled">{t(`side.${step.side}`)}</Tag>}
          {step.destructive && (
            <Tag variant="filled" color="red">
              {t("steps.deletes")}
            </Tag>
          )}
          {!step.cancellable && (
            <Tooltip title={t("steps.uncancellableHelp")}>
              <Tag variant="filled" color="gold" tabIndex={0}>
                {t("steps.uncancellable")}
              </Tag>
            </Tooltip>
          )}
        </>
      ),
    },
    {
      title: t("steps.lock"),
      dataIndex: "lock",
      width: 300,
      render: (lock: string | null) =>
        lock === null ? dash : <span className={`operations-dot operations-stops-${stopsOf(lock)}`}>{lock}</span>,
    },
    {
      title: t("steps.duration"),
      dataIndex: "duration",
      width: 110,
      render: (duration: PlanStep["duration"]) => t(`duration.${duration}`),
    },
    figure("rows", t("steps.rows"), countOf),
    figure("bytes", t("steps.bytes"), bytesOf),
    figure("disk_bytes", t("steps.room"), bytesOf),
  ];

  function figure(name: "rows" | "bytes" | "disk_bytes", title: string, say: (value: number) => string) {
    return {
      title,
      dataIndex: name,
      align: "end" as const,
      width: 90,
      className: "number",
      render: (value: number | null) => (value === null ? dash : say(value)),
    };
  }

  return (
    <section className="operations-panel" aria-label={t("steps.title")}>
      <h2>
        {t("steps.title")} <span className="dim">{steps.length}</span>
      </h2>
      {steps.length === 0 ? (
        <p>{t("steps.none")}</p>
      ) : (
        <Table<PlanStep>
          size="small"
          rowKey="number"
          columns={columns}
          dataSource={steps}
          pagination={steps.length > PAGE && { pageSize: PAGE, showSizeChanger: false, size: "small" }}
          scroll={{ x: 1080 }}
          expandable={{
            expandRowByClick: true,
            rowExpandable: ({ sql }) => sql.length > 0,
            expandedRowRender: ({ sql, step, transaction }) => (
              <>
                {sql.length > 1 && <div className="dim">{transaction ? t("steps.together") : t("steps.each")}</div>}
                <Json value={sql.map((text) => `${text};`).join("\n")} label={step} />
              </>
            ),
          }}
        />
      )}
    </section>
  );
}
