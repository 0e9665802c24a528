// The databases that operations work on: where they are, whether they answer, and what works on them now.
import { PlusOutlined } from "@ant-design/icons";
import { Button, Empty, Skeleton } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { useMay } from "../../state/session";
import { useFilters } from "../../state/url";
import { DeleteDialog } from "./DeleteDialog";
import { Detail } from "./Detail";
import { SourceForm } from "./SourceForm";
import { SourceTable } from "./SourceTable";
import { useTests } from "./testing";
import "./sources.css";

export function SourcesPage() {
  const { t } = useTranslation("sources");
  const [filters, change] = useFilters();
  const may = useMay("admin", { whole: true });
  const found = useGet("/api/v1/data-sources");
  const tests = useTests();
  const items = found.data?.items ?? [];
  const by = (id: string | undefined) => items.find((one) => String(one.id) === id) ?? null;
  const close = () => change({ new: null, edit: null, delete: null });
  const tested = (id: number) => void tests.run(id);
  const [edited, deleted, opened] = [by(filters.edit), by(filters.delete), by(filters.source)];
  return (
    <Page
      title={t("title")}
      about={t("about")}
      actions={
        may &&
        items.length > 0 && (
          <Button type="primary" icon={<PlusOutlined />} onClick={() => change({ new: "1" })}>
            {t("add")}
          </Button>
        )
      }
    >
      <Refused refusal={found.error} again={() => void found.refetch()} />
      {found.isLoading && <Skeleton active paragraph={{ rows: 4 }} title={false} />}
      {found.data && items.length === 0 && (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={may ? t("empty") : t("emptyAsk")}>
          {may && (
            <Button type="primary" icon={<PlusOutlined />} onClick={() => change({ new: "1" })}>
              {t("add")}
            </Button>
          )}
        </Empty>
      )}
      {items.length > 0 && <SourceTable sources={items} tests={tests} change={change} may={may} />}
      {opened && (
        <Detail
          key={opened.id}
          source={opened}
          tests={tests}
          may={may}
          change={change}
          onClose={() => change({ source: null })}
        />
      )}
      {may && filters.new && <SourceForm source={null} onClose={close} onTested={tested} />}
      {may && edited && <SourceForm key={edited.id} source={edited} onClose={close} onTested={tested} />}
      {may && deleted && (
        <DeleteDialog source={deleted} onClose={close} onDone={() => change({ delete: null, source: null })} />
      )}
    </Page>
  );
}
