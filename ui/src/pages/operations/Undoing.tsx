// Taking an operation back: which operation does that is asked of the server, and it starts at its preview.
import { useQueryClient } from "@tanstack/react-query";
import { Skeleton } from "antd";
import { useEffect } from "react";

import { useGet } from "../../api/queries";
import { Refused } from "../../parts/Refused";
import { writeConfig } from "./config";
import { previewOf, type Place } from "./wizard";

export function Undoing({ place, id }: { place: Place; id: number }) {
  const queries = useQueryClient();
  const found = useGet("/api/v1/instances/{instance_id}/undo", { path: { instance_id: id } }, { every: false });
  const undo = found.data;
  useEffect(() => {
    if (undo === undefined) return;
    const config = writeConfig(undo.config);
    queries.setQueryData(previewOf(undo.kind, config).queryKey, undo.preview);
    place.go({ step: "preview", config, undo: String(id) }, { replace: true, kind: undo.kind });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- once, when the answer is there
  }, [undo]);
  if (found.error) return <Refused refusal={found.error} again={() => void found.refetch()} />;
  return <Skeleton active paragraph={{ rows: 6 }} />;
}
