// What can be done with a log: follow it, search it, go through its errors, take it along.
import {
  ArrowDownOutlined,
  ArrowUpOutlined,
  CaretRightOutlined,
  ClockCircleOutlined,
  DownloadOutlined,
  PauseOutlined,
  VerticalAlignBottomOutlined,
  VerticalAlignTopOutlined,
} from "@ant-design/icons";
import { Button, Input, Space, Switch, Tag, Tooltip } from "antd";
import { useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { useFilters } from "../../../state/url";
import { CopyMenu } from "./CopyMenu";
import type { Direction, Wanted } from "./finding";
import { numberOf, type Row } from "./rows";
import { isRest, type Search } from "./useLook";
import type { LogWindow } from "./window";
import { WrapIcon } from "./WrapIcon";

type Props = {
  log: LogWindow;
  living: boolean;
  following: boolean;
  search: Search;
  /** The log marks no errors, so what came by stderr is shown in their place. */
  unmarked: boolean;
  chosen: readonly Row[];
  visible: () => Row[];
  onFollow: () => void;
  onStart: () => void;
  onEnd: () => void;
  onFind: (what: Wanted, direction: Direction) => void;
  onSought: () => void;
};

export function LogBar(props: Props) {
  const { log, living, following, chosen, visible, search, unmarked, onFollow, onStart, onEnd, onFind, onSought } =
    props;
  const { t } = useTranslation("instance");
  const [filters, change] = useFilters();
  const [text, setText] = useState(filters.find ?? "");
  const sought = text.trim() === "" ? null : { text };

  return (
    <div className="log-bar" role="toolbar" aria-label={t("log.tools")}>
      {living && (
        <Button
          size="small"
          icon={following ? <PauseOutlined /> : <CaretRightOutlined />}
          aria-label={following ? t("log.pause") : t("log.follow")}
          onClick={onFollow}
        >
          {following ? t("log.pause") : t("log.follow")}
        </Button>
      )}
      <Space.Compact size="small" className="log-search">
        <Input
          size="small"
          allowClear
          maxLength={200}
          value={text}
          status={search === "none" ? "warning" : ""}
          placeholder={t("log.search")}
          aria-label={t("log.search")}
          onChange={(event) => {
            setText(event.target.value);
            onSought();
            change({ find: event.target.value });
          }}
          onKeyDown={(event) => {
            if (event.nativeEvent.isComposing) return; // Enter ends what an input method composes
            if (event.key === "Enter" && sought) onFind(sought, event.shiftKey ? "next" : "previous");
          }}
        />
        <Tool
          label={t("log.previousMatch")}
          icon={<ArrowUpOutlined />}
          disabled={!sought}
          onClick={() => sought && onFind(sought, "previous")}
        />
        <Tool
          label={t("log.nextMatch")}
          icon={<ArrowDownOutlined />}
          disabled={!sought}
          onClick={() => sought && onFind(sought, "next")}
        />
      </Space.Compact>
      <span role="status" className={search === "seeking" ? "log-seeking" : "log-missed"}>
        {search === "seeking" && t("log.seeking")}
        {search === "none" && t("log.noMatch")}
        {isRest(search) && t(`log.rest.${search.direction}`, { line: numberOf({ seq: search.upTo, part: 0 }) })}
      </span>
      <label className="log-switch">
        <Switch
          size="small"
          checked={filters.log === "errors"}
          onChange={(on) => change({ log: on ? "errors" : null, line: null, to: null })}
        />
        {t("log.errorsOnly")}
      </label>
      {unmarked && <span className="dim">{t("log.unmarked")}</span>}
      {filters.attempt && (
        <Tag closable onClose={() => change({ attempt: null })} className="log-of">
          {t("log.ofAttempt")}
        </Tag>
      )}
      <Space.Compact size="small">
        <Tool
          label={t("log.previousError")}
          icon={<ArrowUpOutlined />}
          danger
          onClick={() => onFind({ error: true }, "previous")}
        />
        <Tool
          label={t("log.nextError")}
          icon={<ArrowDownOutlined />}
          danger
          onClick={() => onFind({ error: true }, "next")}
        />
      </Space.Compact>
      <span className="grow" />
      <Space.Compact size="small">
        <Tool label={t("log.start")} icon={<VerticalAlignTopOutlined />} onClick={onStart} />
        <Tool label={t("log.end")} icon={<VerticalAlignBottomOutlined />} onClick={onEnd} />
      </Space.Compact>
      <Space.Compact size="small">
        <Tool
          label={t("log.times")}
          icon={<ClockCircleOutlined />}
          pressed={filters.times !== "0"}
          onClick={() => change({ times: filters.times === "0" ? null : "0" })}
        />
        <Tool
          label={t("log.wrap")}
          icon={<WrapIcon />}
          pressed={filters.wrap === "1"}
          onClick={() => change({ wrap: filters.wrap === "1" ? null : "1" })}
        />
      </Space.Compact>
      <Space.Compact size="small">
        <CopyMenu instance={log.instance} chosen={chosen} visible={visible} />
        <Tooltip title={t("log.download")}>
          <Button
            size="small"
            icon={<DownloadOutlined />}
            aria-label={t("log.download")}
            href={`/api/v1/instances/${log.instance}/logs/download`}
            download
          />
        </Tooltip>
      </Space.Compact>
    </div>
  );
}

type ToolProps = {
  label: string;
  icon: ReactNode;
  pressed?: boolean;
  disabled?: boolean;
  danger?: boolean;
  onClick: () => void;
};

function Tool({ label, icon, pressed, disabled, danger, onClick }: ToolProps) {
  return (
    <Tooltip title={label} mouseEnterDelay={0.4}>
      <Button
        size="small"
        icon={icon}
        danger={danger}
        disabled={disabled}
        aria-label={label}
        aria-pressed={pressed}
        type={pressed ? "primary" : "default"}
        ghost={pressed}
        onClick={onClick}
      />
    </Tooltip>
  );
}
