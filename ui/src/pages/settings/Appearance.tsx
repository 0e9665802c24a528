// Theme, language and clock: kept in this browser.
import { Segmented } from "antd";
import { useId, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { choose, usePreferences, type Clock, type Language, type Theme } from "../../state/preferences";
import { browserZone, partsIn } from "../../time/format";
import { useNow } from "../../time/now";

const THEMES: Theme[] = ["system", "light", "dark"];
const CLOCKS: Clock[] = ["browser", "utc", "task"];
const EXAMPLE = "Asia/Shanghai";

export function Appearance() {
  const { t } = useTranslation("settings");
  const { theme, language, clock } = usePreferences();
  return (
    <>
      <p className="dim">{t("appearance.about")}</p>
      <Row name={t("appearance.theme")}>
        {(id) => (
          <Segmented<Theme>
            aria-labelledby={id}
            value={theme}
            options={THEMES.map((value) => ({ value, label: t(`shell:theme.${value}`) }))}
            onChange={(chosen) => choose({ theme: chosen })}
          />
        )}
      </Row>
      <Row name={t("appearance.language")}>
        {(id) => (
          <Segmented<Language>
            aria-labelledby={id}
            value={language}
            options={[
              { value: "en", label: <span lang="en">English</span> },
              { value: "zh", label: <span lang="zh-CN">中文</span> },
            ]}
            onChange={(chosen) => choose({ language: chosen })}
          />
        )}
      </Row>
      <Row name={t("appearance.clock")}>
        {(id) => (
          <Segmented<Clock>
            aria-labelledby={id}
            value={clock}
            options={CLOCKS.map((value) => ({ value, label: t(`appearance.clocks.${value}`) }))}
            onChange={(chosen) => choose({ clock: chosen })}
          />
        )}
      </Row>
      <Example clock={clock} />
    </>
  );
}

function Row({ name, children }: { name: string; children: (id: string) => ReactNode }) {
  const id = useId();
  return (
    <div className="settings-row">
      <span id={id}>{name}</span>
      {children(id)}
    </div>
  );
}

function Example({ clock }: { clock: Clock }) {
  const { t } = useTranslation("settings");
  const now = new Date(Math.floor(useNow() / 60_000) * 60_000);
  const zone = clock === "utc" ? "UTC" : clock === "task" ? EXAMPLE : browserZone();
  const { date, clock: hours, zone: short } = partsIn(now, zone, { seconds: false });
  return (
    <p className="settings-example" data-testid="clock-example">
      {t("appearance.example", { zone: EXAMPLE })} <strong className="number">{`${date} ${hours} ${short}`}</strong>
    </p>
  );
}
