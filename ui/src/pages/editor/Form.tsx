// The editor itself: what is written, what the server says to it, and saving it.
import { useNavigate } from "@tanstack/react-router";
import { Alert, App, Button } from "antd";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { Refusal } from "../../api/refusal";
import { useManaged } from "../task/managed";
import { faultsIn, standing } from "../../parts/faults";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { useMay } from "../../state/session";
import { Conflict } from "./Conflict";
import { EditingContext, type Editing } from "./context";
import { bodyOf, changes, draftOf, DEFAULTS, same, type Draft, type Task } from "./draft";
import { Leaving } from "./Leaving";
import { Parts } from "./Parts";

type Props = { task: Task | null; first?: Draft; copied?: Task; known?: Task };

export function Form({ task, first, copied, known }: Props) {
  const { t } = useTranslation("editor");
  const managed = useManaged(task);
  const navigate = useNavigate();
  const { message } = App.useApp();
  const may = useMay("editor");
  const [base, setBase] = useState<Draft>(() => (task === null ? (first ?? DEFAULTS) : draftOf(task)));
  const [version, setVersion] = useState(task?.version ?? null);
  const [draft, setDraft] = useState(base);
  const [sent, setSent] = useState(base);
  const [names, setNames] = useState<ReadonlyMap<number, string>>(() => new Map(known && [[known.id, known.name]]));
  const [brokens, setBrokens] = useState<ReadonlySet<string>>(new Set());
  const [theirs, setTheirs] = useState<Task | null>(null);
  const saved = useRef(false);
  const box = useRef<HTMLFormElement>(null);
  const dirty = copied !== undefined || !same(base, draft);

  const save = useAct(
    async (mine: Draft, from: Draft, at: number | null): Promise<Task | null> => {
      if (task === null) return answer(client.POST("/api/v1/tasks", { body: bodyOf(mine) }));
      const where = { path: { task_id: task.id } };
      try {
        const body = { ...changes(from, mine), version: at ?? undefined };
        return await answer(client.PATCH("/api/v1/tasks/{task_id}", { params: where, body }));
      } catch (reason) {
        if (!(reason instanceof Refusal) || reason.status !== 409) throw reason;
        const now = await answer(client.GET("/api/v1/tasks/{task_id}", { params: where }));
        if (now.version === at) throw reason; // something else is in the way, such as the name
        setTheirs(now);
        return null;
      }
    },
    {
      quiet: true,
      refresh: ["/api/v1/tasks", "/api/v1/schedules"],
      then: (made) => {
        if (made === null) return;
        saved.current = true;
        void message.success(t("saved", { name: made.name, version: made.version }));
        void navigate({ to: "/tasks/$id", params: { id: String(made.id) } });
      },
    },
  );

  const faults = useMemo(() => standing(faultsIn(save.refusal), sent, draft), [save.refusal, sent, draft]);
  // A fault that nobody sees is none: the first is scrolled to.
  useEffect(() => {
    if (save.refusal === null) return;
    const bad =
      box.current?.querySelector<HTMLElement>("[aria-invalid=true]") ?? box.current?.querySelector(".schema-faults");
    bad?.scrollIntoView({ block: "center" });
    if (bad instanceof HTMLElement) bad.focus({ preventScroll: true });
  }, [save.refusal]);

  const learn = useCallback((seen: readonly { id: number; name: string }[]) => {
    setNames((old) =>
      seen.every(({ id, name }) => old.get(id) === name)
        ? old
        : new Map([...old, ...seen.map(({ id, name }) => [id, name] as const)]),
    );
  }, []);
  const broken = useCallback((field: string, is: boolean) => {
    setBrokens((old) => {
      if (old.has(field) === is) return old;
      return new Set(is ? [...old, field] : [...old].filter((one) => one !== field));
    });
  }, []);
  const editing: Editing = {
    draft,
    set: (change) => setDraft((old) => ({ ...old, ...change })),
    faults,
    names,
    learn,
    id: task?.id ?? null,
    broken,
  };

  function send(mine: Draft, from = base, at = version) {
    if (!may || brokens.size > 0) return;
    setSent(mine);
    void save.run(mine, from, at);
  }

  const blocked = brokens.size > 0 ? t("brokenJson") : undefined;
  const unchanged = task !== null && !dirty;
  const buttons = (
    <>
      <Button
        onClick={() =>
          void navigate(task === null ? { to: "/tasks" } : { to: "/tasks/$id", params: { id: String(task.id) } })
        }
      >
        {t("common:cancel")}
      </Button>
      <Button
        type="primary"
        htmlType="submit"
        form="editor"
        loading={save.pending}
        disabled={!may || unchanged || blocked !== undefined}
        title={blocked}
      >
        {task === null ? t("create") : t("saveVersion", { version: (version ?? 0) + 1 })}
      </Button>
    </>
  );
  const about =
    task === null
      ? copied && t("copyOf", { name: copied.name })
      : t("versionNow", { version: version ?? task.version });
  const homeless =
    save.refusal !== null && (faultsIn(save.refusal).length === 0 || faults.length > 0) ? save.refusal : null;

  return (
    <Page
      title={task === null ? t("titleNew") : t("titleEditNamed", { name: task.name })}
      about={about}
      actions={buttons}
    >
      {!may && <Alert type="info" showIcon className="editor-alert" title={t("mayNot")} />}
      {managed && <Alert type="warning" showIcon className="editor-alert" title={managed} />}
      <Refused refusal={homeless} />
      <EditingContext value={editing}>
        <form
          id="editor"
          ref={box}
          className="editor"
          noValidate
          onSubmit={(event) => {
            event.preventDefault();
            if (!unchanged) send(draft);
          }}
          onKeyDown={(event) => {
            if (event.key.toLowerCase() !== "s" || !(event.ctrlKey || event.metaKey)) return;
            event.preventDefault();
            if (!unchanged) send(draft);
          }}
        >
          <Parts buttons={buttons} />
        </form>
      </EditingContext>
      {theirs !== null && (
        <Conflict
          base={base}
          theirs={theirs}
          mine={draft}
          names={names}
          pending={save.pending}
          onClose={() => setTheirs(null)}
          onChosen={(chosen, at) => {
            const now = draftOf(at);
            setBase(now);
            setVersion(at.version);
            setDraft(chosen);
            setTheirs(null);
            if (!same(now, chosen)) send(chosen, now, at.version);
          }}
        />
      )}
      <Leaving dirty={dirty} saved={saved} />
    </Page>
  );
}
