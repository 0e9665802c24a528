// Signing in: by name and password, or by a token: typed, or in the address's fragment, which no server ever sees.
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter, useSearch } from "@tanstack/react-router";
import { Button, Card, Skeleton } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import type { Refusal } from "../../api/refusal";
import { Refused } from "../../parts/Refused";
import { Logo } from "../../shell/Logo";
import { forgetVisits } from "../../shell/recent";
import { signIn, signOut, whoAmI, type Me } from "../../state/session";
import type { Filters } from "../../state/url";
import "./access.css";
import { Looks } from "./Looks";
import { placeAfter, takeToken } from "./next";
import { SignInForm, Wrong, type Given } from "./SignInForm";

export function SignInPage() {
  const { t } = useTranslation("access");
  const search: Filters = useSearch({ strict: false });
  const router = useRouter();
  const queries = useQueryClient();
  const [told, setTold] = useState<string | null>(null);
  const [byToken, setByToken] = useState(false);
  const [linked, setLinked] = useState<string | null>(null);
  const me = useQuery<Me, Refusal>({ queryKey: ["sign-in"], queryFn: whoAmI, retry: false, gcTime: 0 });
  const next = placeAfter(search.next, window.location.origin);

  function enter() {
    queries.clear(); // whoever was here before may have seen other things
    forgetVisits();
    router.history.replace(next);
  }
  const come = useAct(
    (given: Given) => {
      setByToken("token" in given);
      return signIn(given);
    },
    { quiet: true, then: enter },
  );
  const leave = useAct(signOut, {
    then: () => {
      queries.clear();
      setTold(t("signIn.left"));
      void me.refetch();
    },
  });

  useEffect(() => {
    document.title = `${t("signIn.title")} · Hourhand`;
  }, [t]);
  const { run } = come;
  const { refetch } = me;
  useEffect(() => {
    const begin = async () => {
      const token = takeToken();
      if (token === null) return;
      // A link must not make somebody else of who is signed in without their word.
      const { data } = await refetch();
      if (data) setLinked(token);
      else await run({ token });
    };
    const again = () => void begin();
    again();
    window.addEventListener("hashchange", again);
    return () => window.removeEventListener("hashchange", again);
    // The token is taken once, whatever is drawn again.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  function use(token: string) {
    setLinked(null);
    void run({ token });
  }

  return (
    <div className="access-sign-in">
      <main>
        <Card
          title={
            <h1>
              <Logo />
            </h1>
          }
          extra={<Looks />}
        >
          {come.refusal?.status === 401 ? <Wrong token={byToken} /> : <Refused refusal={come.refusal} />}
          {me.isPending || (come.pending && !me.isError) ? (
            <Skeleton active title={false} paragraph={{ rows: 4 }} />
          ) : me.data && linked !== null ? (
            <Linked me={me.data} onUse={() => use(linked)} onStay={() => setLinked(null)} />
          ) : me.data && !leave.pending ? (
            <Known me={me.data} onGo={enter} onLeave={() => void leave.run()} />
          ) : (
            <>
              {told !== null && <p role="status">{told}</p>}
              <SignInForm pending={come.pending} onDone={(given) => void come.run(given)} />
            </>
          )}
        </Card>
        <p className="dim access-help">
          <a href="/docs">{t("signIn.docs")}</a>
        </p>
      </main>
    </div>
  );
}

function Linked({ me, onUse, onStay }: { me: Me; onUse: () => void; onStay: () => void }) {
  const { t } = useTranslation("access");
  return (
    <>
      <p role="status">{t("signIn.linked", { name: me.name, role: t(`common:role.${me.role}`) })}</p>
      <div className="access-row">
        <Button type="primary" onClick={onStay}>
          {t("signIn.stay", { name: me.name })}
        </Button>
        <Button onClick={onUse}>{t("signIn.useLink")}</Button>
      </div>
    </>
  );
}

function Known({ me, onGo, onLeave }: { me: Me; onGo: () => void; onLeave: () => void }) {
  const { t } = useTranslation("access");
  return (
    <>
      <p role="status">
        {t("signIn.known", { name: me.name, role: t(`common:role.${me.role}`) })}
        {me.groups !== null && ` ${t("signIn.limited", { groups: me.groups.join(", ") || t("common:none") })}`}
      </p>
      <div className="access-row">
        <Button type="primary" onClick={onGo}>
          {t("signIn.goOn")}
        </Button>
        <Button onClick={onLeave}>{t("signIn.leave")}</Button>
      </div>
    </>
  );
}
