// What surrounds every page: what was fetched, the theme, the language.
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { App, ConfigProvider } from "antd";
import english from "antd/locale/en_US";
import chinese from "antd/locale/zh_CN";
import { useEffect } from "react";

import { Refusal } from "./api/refusal";
import { router } from "./routes";
import { speak } from "./i18n";
import { useDark, usePreferences } from "./state/preferences";
import { themeOf } from "./theme";

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 2_000,
      // What was refused stays refused; who did not answer may answer the next time.
      retry: (count, reason) =>
        count < 2 && (!(reason instanceof Refusal) || reason.status === 0 || reason.status >= 500),
    },
  },
});

export function Application() {
  const { language } = usePreferences();
  const dark = useDark();
  useEffect(() => {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
  }, [dark]);
  useEffect(() => {
    void speak(language);
  }, [language]);
  return (
    <ConfigProvider
      locale={language === "zh" ? chinese : english}
      theme={themeOf(dark)}
      button={{ autoInsertSpace: false }}
    >
      <App notification={{ placement: "bottomRight" }}>
        <QueryClientProvider client={queries}>
          <RouterProvider router={router} context={{ queries }} />
        </QueryClientProvider>
      </App>
    </ConfigProvider>
  );
}
