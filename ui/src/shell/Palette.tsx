// The search over everything: pages, tasks by name, an instance by its number.
import { useNavigate } from "@tanstack/react-router";
import { Input, Modal } from "antd";
import { useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../api/queries";
import { reaches, useMe } from "../state/session";
import { PAGES } from "./pages";

type Found = { key: string; label: ReactNode; hint?: string; to: string };

export function Palette({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useTranslation("shell");
  return (
    <Modal open={open} onCancel={onClose} footer={null} destroyOnHidden title={t("search.title")} className="palette">
      <Search onGone={onClose} />
    </Modal>
  );
}

function Search({ onGone }: { onGone: () => void }) {
  const { t } = useTranslation("shell");
  const me = useMe();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const wanted = text.trim();
  const tasks = useGet(
    "/api/v1/tasks",
    { query: { q: wanted, limit: 8 } },
    { enabled: wanted !== "", every: false, keep: true },
  );

  const pages: Found[] = PAGES.filter((page) => reaches(me.role, page.least) && !(page.whole && me.groups !== null))
    .map((page) => ({
      key: page.path,
      label: t(`pages.${page.name}`),
      hint: `g ${page.key}`,
      to: page.path,
      name: t(`pages.${page.name}`),
    }))
    .filter((page) => page.name.toLowerCase().includes(wanted.toLowerCase()));
  const found: Found[] = [
    ...(/^#?\d+$/.test(wanted)
      ? [
          {
            key: "instance",
            label: t("search.instance", { id: wanted.replace("#", "") }),
            to: `/instances/${wanted.replace("#", "")}`,
          },
        ]
      : []),
    ...(wanted === ""
      ? []
      : (tasks.data?.items ?? []).map((task) => ({
          key: `task ${task.id}`,
          label: task.name,
          hint: t("search.task"),
          to: `/tasks/${task.id}`,
        }))),
    ...(wanted === ""
      ? []
      : [
          {
            key: "instances",
            label: t("search.instances", { text: wanted }),
            to: `/instances?q=${encodeURIComponent(wanted)}`,
          },
        ]),
    ...pages,
  ];
  const chosen = Math.min(at, found.length - 1);

  function go(to: string | undefined) {
    if (to === undefined) return;
    onGone();
    void navigate({ to });
  }

  return (
    <div role="search">
      <Input
        autoFocus
        value={text}
        placeholder={t("search.placeholder")}
        aria-label={t("search.placeholder")}
        role="combobox"
        aria-expanded="true"
        aria-controls="found"
        aria-activedescendant={found[chosen] ? `found-${chosen}` : undefined}
        onChange={(event) => {
          setText(event.target.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(chosen + 1, found.length - 1));
          else if (event.key === "ArrowUp") setAt(Math.max(chosen - 1, 0));
          else if (event.key === "Enter") go(found[chosen]?.to);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="found" className="found" role="listbox" aria-label={t("search.title")}>
        {found.map((one, number) => (
          <li
            key={one.key}
            id={`found-${number}`}
            role="option"
            aria-selected={number === chosen}
            onMouseEnter={() => setAt(number)}
            onClick={() => go(one.to)}
          >
            <span>{one.label}</span>
            {one.hint && <kbd>{one.hint}</kbd>}
          </li>
        ))}
      </ul>
    </div>
  );
}
