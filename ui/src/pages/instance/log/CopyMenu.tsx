// Take a log along: the chosen lines, what is seen, or all of it where that is not too much.
import { CopyOutlined } from "@ant-design/icons";
import { App, Button, Dropdown } from "antd";
import { useTranslation } from "react-i18next";

import { copied, MOST_COPIED, readUpTo, textOf } from "./copying";
import type { Row } from "./rows";

type Props = { instance: number; chosen: readonly Row[]; visible: () => readonly Row[] };

export function CopyMenu({ instance, chosen, visible }: Props) {
  const { t } = useTranslation("instance");
  const { message } = App.useApp();
  const whole = `/api/v1/instances/${instance}/logs/download`;

  function instead(why: string) {
    const link = (
      <a href={whole} download>
        {t("log.download")}
      </a>
    );
    void message.warning({ content: [`${why} `, <span key="link">{link}</span>], duration: 10 });
  }

  async function copy(which: string) {
    let text: string | null;
    if (which === "all") {
      try {
        const answer = await fetch(whole);
        if (!answer.ok) {
          instead(t("log.notCopied"));
          return;
        }
        text = await readUpTo(answer, MOST_COPIED);
      } catch {
        return void message.error(t("log.notRead")); // nobody answers: nor would they to a download
      }
      if (text === null) {
        instead(t("log.tooLong"));
        return;
      }
    } else {
      text = textOf(which === "chosen" ? chosen : visible());
    }
    if (await copied(text)) void message.success(t("common:copied"));
    else instead(t("log.notCopied"));
  }

  return (
    <Dropdown
      trigger={["click"]}
      menu={{
        onClick: ({ key }) => void copy(key),
        items: [
          { key: "chosen", disabled: chosen.length === 0, label: t("log.copyChosen", { count: chosen.length }) },
          { key: "visible", label: t("log.copyVisible") },
          { key: "all", label: t("log.copyAll") },
        ],
      }}
    >
      <Button size="small" icon={<CopyOutlined />} aria-label={t("log.copy")} title={t("log.copy")} />
    </Dropdown>
  );
}
