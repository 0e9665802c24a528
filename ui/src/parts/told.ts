// words of common
// A refusal in words: the server says what was wrong; the kind of it is said in the reader's language.
import { useTranslation } from "react-i18next";

import type { Refusal } from "../api/refusal";

const KINDS: Record<number, string> = {
  0: "refusal.unreachable",
  401: "refusal.signedOut",
  403: "refusal.forbidden",
  404: "refusal.missing",
  409: "refusal.conflict",
  410: "refusal.gone",
  422: "refusal.invalid",
  424: "refusal.source",
  429: "refusal.throttled",
  503: "refusal.away",
};

export function useTold(): { title: (refusal: Refusal) => string; detail: (refusal: Refusal) => string } {
  const { t } = useTranslation("common");
  return {
    title: (refusal) => t(KINDS[refusal.status] ?? "refusal.other", { status: refusal.status }),
    detail: (refusal) => {
      if (refusal.status === 0) return t("refusal.unreachableDetail");
      const faults = refusal.faults.map(({ field, message }) => (field ? `${field}: ${message}` : message));
      return faults.length > 0 ? faults.join("\n") : refusal.message;
    },
  };
}
