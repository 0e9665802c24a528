// Who is signed in, and what they may do.
import { createContext, useContext } from "react";

import { answer, client, rememberSession } from "../api/client";
import type { components } from "../api/schema";

export type Me = components["schemas"]["SignedIn"];
export type Role = components["schemas"]["Role"];

const ORDER: readonly Role[] = ["viewer", "operator", "editor", "admin"];

export const Session = createContext<Me | null>(null);

export async function whoAmI(): Promise<Me> {
  const me = await answer(client.GET("/api/v1/sessions/current"));
  rememberSession(me);
  return me;
}

export async function signIn(given: components["schemas"]["SignIn"]): Promise<Me> {
  const me = await answer(client.POST("/api/v1/sessions", { body: given }));
  rememberSession(me);
  return me;
}

export async function signOut(): Promise<void> {
  await answer(client.DELETE("/api/v1/sessions/current"));
  rememberSession(null);
}

export function useMe(): Me {
  const me = useContext(Session);
  if (me === null) throw new Error("used outside of a session");
  return me;
}

export function reaches(role: Role, least: Role): boolean {
  return ORDER.indexOf(role) >= ORDER.indexOf(least);
}

/** Whether the caller may do what needs this role; `whole`: what is refused to who is limited to groups. */
export function useMay(least: Role, { whole = false } = {}): boolean {
  const me = useMe();
  return reaches(me.role, least) && !(whole && me.groups !== null);
}
