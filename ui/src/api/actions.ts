// Writing: do it, say that it was done, and fetch what it changed; what was refused is told where it can be read.
import { App } from "antd";
import { useState } from "react";

import { useTold } from "../parts/told";
import { useRefresh } from "./queries";
import { Refusal } from "./refusal";

export type Act<Input extends unknown[], Output> = {
  run: (...input: Input) => Promise<Output | undefined>;
  pending: boolean;
  refusal: Refusal | null;
  forget: () => void;
};

export type ActSettings<Output> = {
  /** What to say when it was done. */
  done?: string | ((output: Output) => string);
  /** Beginnings of paths to fetch again. */
  refresh?: readonly string[];
  /** The refusal is shown by the form itself, so no message is put up. */
  quiet?: boolean;
  then?: (output: Output) => void;
};

/** It is done: a slow list behind a dialog does not keep the dialog open for longer than this. */
const PATIENCE = 1_500;
const pause = (time: number) => new Promise((wake) => setTimeout(wake, time));

export function useAct<Input extends unknown[], Output>(
  act: (...input: Input) => Promise<Output>,
  { done, refresh = [], quiet = false, then }: ActSettings<Output> = {},
): Act<Input, Output> {
  const { message, notification } = App.useApp();
  const fetchAgain = useRefresh();
  const told = useTold();
  const [pending, setPending] = useState(false);
  const [refusal, setRefusal] = useState<Refusal | null>(null);

  async function run(...input: Input): Promise<Output | undefined> {
    setPending(true);
    setRefusal(null);
    try {
      const output = await act(...input);
      if (done !== undefined) void message.success(typeof done === "function" ? done(output) : done);
      await Promise.race([fetchAgain(...refresh), pause(PATIENCE)]);
      then?.(output);
      return output;
    } catch (reason) {
      if (!(reason instanceof Refusal)) throw reason;
      setRefusal(reason);
      if (!quiet) notification.error({ title: told.title(reason), description: told.detail(reason), duration: 12 });
      return undefined;
    } finally {
      setPending(false);
    }
  }

  return { run, pending, refusal, forget: () => setRefusal(null) };
}
