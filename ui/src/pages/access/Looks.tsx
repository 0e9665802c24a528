// Language and theme, for who is not signed in.
import { MoonOutlined, SunOutlined, TranslationOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { useTranslation } from "react-i18next";

import { choose, useDark, usePreferences } from "../../state/preferences";

export function Looks() {
  const { t } = useTranslation("access");
  const { language } = usePreferences();
  const dark = useDark();
  return (
    <>
      <Button
        type="text"
        icon={<TranslationOutlined />}
        lang={language === "zh" ? "en" : "zh-CN"}
        onClick={() => choose({ language: language === "zh" ? "en" : "zh" })}
      >
        {language === "zh" ? "English" : "中文"}
      </Button>
      <Button
        type="text"
        icon={dark ? <SunOutlined /> : <MoonOutlined />}
        aria-label={dark ? t("signIn.light") : t("signIn.dark")}
        title={dark ? t("signIn.light") : t("signIn.dark")}
        onClick={() => choose({ theme: dark ? "light" : "dark" })}
      />
    </>
  );
}
