// What somebody chooses for themselves, and what there is to know of this server.
import { Card } from "antd";
import { useTranslation } from "react-i18next";

import { Page } from "../../parts/Page";
import { useMay } from "../../state/session";
import { About } from "./About";
import { Appearance } from "./Appearance";
import { Demo } from "./Demo";
import { Diagnosis } from "./Diagnosis";
import { Mine } from "./Mine";
import "./settings.css";

export function SettingsPage() {
  const { t } = useTranslation("settings");
  const operator = useMay("operator", { whole: true });
  return (
    <Page title={t("title")}>
      <div className="settings">
        <Card size="small" title={<h2>{t("appearance.title")}</h2>}>
          <Appearance />
        </Card>
        <Card size="small" title={<h2>{t("mine.title")}</h2>}>
          <Mine />
        </Card>
        <Card size="small" title={<h2>{t("demo.title")}</h2>}>
          <Demo />
        </Card>
        <Card size="small" title={<h2>{t("about.title")}</h2>}>
          <About />
        </Card>
        {operator && (
          <Card size="small" className="settings-wide" title={<h2>{t("diagnosis.title")}</h2>}>
            <Diagnosis />
          </Card>
        )}
      </div>
    </Page>
  );
}
