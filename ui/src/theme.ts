// How Ant Design looks here: dense and calm.
import { theme, type ThemeConfig } from "antd";

export function themeOf(dark: boolean): ThemeConfig {
  return {
    algorithm: dark ? [theme.darkAlgorithm, theme.compactAlgorithm] : [theme.defaultAlgorithm, theme.compactAlgorithm],
    token: {
      colorPrimary: dark ? "#8b9df0" : "#4051b5",
      colorInfo: dark ? "#8b9df0" : "#4051b5",
      colorLink: dark ? "#9fb0ff" : "#3547a8",
      colorBgLayout: dark ? "#14171c" : "#f6f7f9",
      colorBgContainer: dark ? "#1b1f26" : "#ffffff",
      colorTextTertiary: dark ? "#9aa2ad" : "#616974",
      colorTextPlaceholder: dark ? "#8d95a0" : "#6d7580",
      colorError: dark ? "#ff8780" : "#c4372f",
      borderRadius: 6,
      fontSize: 15, // the compact algorithm takes two off
      fontFamily: 'system-ui, -apple-system, "Segoe UI", "Noto Sans", "Noto Sans CJK SC", "PingFang SC", sans-serif',
      fontFamilyCode: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Noto Sans Mono", monospace',
      motion: false,
    },
    components: {
      // The dark algorithm darkens what it is given: white on it could not be read.
      Button: { primaryColor: dark ? "#14171c" : "#ffffff" },
      Menu: dark ? { itemSelectedColor: "#c3cdff" } : {},
      Layout: { headerBg: dark ? "#1b1f26" : "#ffffff", siderBg: dark ? "#1b1f26" : "#ffffff", headerHeight: 48 },
      Table: { cellPaddingBlockSM: 5, cellPaddingInlineSM: 8 },
    },
    cssVar: { key: "hh" },
  };
}
