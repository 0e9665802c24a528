// The drawing: tasks where they were placed, what leads to what, and a way about by wheel, fingers or keys.
import { Background, Controls, MiniMap, ReactFlow, type Edge as FlowEdge, type ReactFlowInstance } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { Alert, Button, Grid, Skeleton } from "antd";
import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";

import { outcomeColors } from "../../parts/colors";
import { useDark } from "../../state/preferences";
import { drawnEdges, drawnNodes } from "./drawn";
import { HEIGHT, WIDTH } from "./layout";
import { shapeOf, stateOf, towards, type Shown } from "./shown";
import { TaskNode, type TaskFlowNode } from "./TaskNode";
import { usePlaces } from "./usePlaces";

const KINDS = { task: TaskNode };
/** Smaller than this nothing can be read: colours are drawn alone, which is quicker and tells more. */
const FAR = 0.38;
/** So many are drawn once and then only moved; of more, those in sight. */
const ALL = 600;
const FIT = { padding: 0.08, maxZoom: 1, duration: 0 };

type Props = {
  shown: Shown;
  chosen: number | null;
  blocked: ReadonlySet<number>;
  /** What is looked at: when this changes, the whole is fitted into the window again. */
  view: string;
  choose: (id: number | null) => void;
  /** Show it as a list. */
  onList: () => void;
};

export function Canvas({ shown, chosen, blocked, view, choose, onList }: Props) {
  const { t } = useTranslation("graph");
  const dark = useDark();
  const narrow = Grid.useBreakpoint().md === false;
  const direction = narrow ? "TB" : "LR";
  const shape = useMemo(() => shapeOf(shown.nodes, shown.edges), [shown]);
  const answered = usePlaces(shape, direction);
  const placed = answered === "failed" ? null : answered;
  const [flow, setFlow] = useState<ReactFlowInstance<TaskFlowNode> | null>(null);
  const [far, setFar] = useState(false);
  const box = useRef<HTMLDivElement>(null);
  const fitted = useRef<string | null>(null);

  const nodes = useMemo(
    () => (placed ? drawnNodes(shown, placed.places, { direction, chosen, blocked }) : []),
    [shown, placed, direction, chosen, blocked],
  );
  const edges: FlowEdge[] = useMemo(() => drawnEdges(shown, chosen, blocked), [shown, chosen, blocked]);

  useEffect(() => {
    if (flow === null || placed === null) return;
    // Somebody adds a task: that is no reason to move the window of whoever looks at another.
    const wanted = `${view} ${direction}`;
    if (fitted.current === wanted || nodes.length === 0) return;
    fitted.current = wanted;
    void flow.fitView(FIT);
  }, [flow, placed, nodes, view, direction]);

  function go(event: KeyboardEvent<HTMLDivElement>) {
    const here = event.target instanceof HTMLElement ? event.target.dataset.task : undefined;
    if (here === undefined || !event.key.startsWith("Arrow") || placed === null || flow === null) return;
    const next = towards(Number(here), event.key, placed.places);
    const at = next === null ? undefined : placed.places.get(next);
    if (next === null || at === undefined) return;
    event.preventDefault();
    reveal(flow, box.current, at);
    // What was out of sight is there only once it has been drawn.
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>(`[data-task="${next}"]`)?.focus());
  }

  const colors = outcomeColors(dark);
  const colorOf = (node: TaskFlowNode) => {
    const state = stateOf(node.data.task);
    if (state === "never") return colors.skipped;
    return state === "waiting" ? colors.pending : colors[state];
  };
  return (
    <div
      className={far ? "graph-canvas graph-far" : "graph-canvas"}
      ref={box}
      onKeyDown={go}
      role="group"
      aria-label={t("drawing")}
    >
      {answered === "failed" ? (
        <Alert
          type="error"
          showIcon
          role="alert"
          title={t("notPlaced")}
          action={<Button onClick={onList}>{t("asList")}</Button>}
        />
      ) : placed === null ? (
        <Skeleton active className="graph-waiting" />
      ) : (
        <ReactFlow<TaskFlowNode>
          nodes={nodes}
          edges={edges}
          nodeTypes={KINDS}
          onInit={setFlow}
          onNodeClick={(_, node) => choose(Number(node.id))}
          onPaneClick={() => choose(null)}
          colorMode={dark ? "dark" : "light"}
          minZoom={0.04}
          maxZoom={1.6}
          nodesDraggable={false}
          nodesConnectable={false}
          nodesFocusable={false}
          edgesFocusable={false}
          elementsSelectable={false}
          disableKeyboardA11y
          onlyRenderVisibleElements={nodes.length > ALL}
          onViewportChange={({ zoom }) => setFar(zoom < FAR)}
          zoomOnDoubleClick={false}
          proOptions={{ hideAttribution: true }}
          ariaLabelConfig={{
            "controls.ariaLabel": t("controls"),
            "controls.zoomIn.ariaLabel": t("zoomIn"),
            "controls.zoomOut.ariaLabel": t("zoomOut"),
            "controls.fitView.ariaLabel": t("fit"),
            "minimap.ariaLabel": t("map"),
          }}
        >
          <Background gap={24} />
          <Controls showInteractive={false} fitViewOptions={FIT} />
          {!narrow && nodes.length > 8 && (
            <MiniMap<TaskFlowNode> pannable zoomable nodeColor={colorOf} className="graph-map" />
          )}
        </ReactFlow>
      )}
    </div>
  );
}

function reveal(flow: ReactFlowInstance<TaskFlowNode>, box: HTMLElement | null, at: { x: number; y: number }) {
  if (box === null) return;
  const { x, y, zoom } = flow.getViewport();
  const [left, top] = [at.x * zoom + x, at.y * zoom + y];
  const inside =
    left >= 0 && top >= 0 && left + WIDTH * zoom <= box.clientWidth && top + HEIGHT * zoom <= box.clientHeight;
  if (!inside) void flow.setCenter(at.x + WIDTH / 2, at.y + HEIGHT / 2, { zoom, duration: 0 });
}
