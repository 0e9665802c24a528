// Nearer by dragging over a stretch, or by the wheel with Ctrl held down (without, it scrolls the rows).
import { useEffect, useRef, useState, type PointerEvent, type RefObject } from "react";

import { zoomed, type Period } from "./period";

const LEAST = 6;
const GATHERED = 120;

type Zoom = (period: Period) => void;

export function useDrag(tracks: RefObject<HTMLElement | null>, period: Period, onPeriod: Zoom) {
  const start = useRef<number | null>(null);
  const wasDrag = useRef(false);
  const [selected, setSelected] = useState<[number, number] | null>(null);
  const part = (x: number) => {
    const box = tracks.current?.getBoundingClientRect();
    return box ? Math.min(1, Math.max(0, (x - box.left) / box.width)) : 0;
  };
  const handlers = {
    onPointerDown(event: PointerEvent<HTMLElement>) {
      const left = tracks.current?.getBoundingClientRect().left ?? 0;
      wasDrag.current = false;
      // A finger scrolls.
      if (event.button !== 0 || event.pointerType === "touch" || event.clientX < left) return;
      start.current = event.clientX;
    },
    onPointerMove(event: PointerEvent<HTMLElement>) {
      if (start.current === null || (!wasDrag.current && Math.abs(event.clientX - start.current) < LEAST)) return;
      if (!wasDrag.current) event.currentTarget.setPointerCapture(event.pointerId);
      wasDrag.current = true;
      const [a, b] = [part(start.current), part(event.clientX)];
      setSelected([Math.min(a, b), Math.max(a, b)]);
    },
    onPointerUp() {
      start.current = null;
      if (selected === null) return;
      const length = period.to - period.from;
      setSelected(null);
      onPeriod({ from: period.from + length * selected[0], to: period.from + length * selected[1], live: false });
    },
    onPointerCancel() {
      start.current = null;
      setSelected(null);
    },
  };
  return { selected, handlers, dragged: () => wasDrag.current };
}

/** Turns of the wheel are gathered, since each would be a question to the server. */
export function useWheel(
  tracks: RefObject<HTMLElement | null>,
  box: RefObject<HTMLElement | null>,
  period: Period,
  onPeriod: Zoom,
) {
  const latest = useRef({ period, onPeriod });
  useEffect(() => {
    latest.current = { period, onPeriod };
  });
  useEffect(() => {
    const [within, over] = [tracks.current, box.current];
    if (within === null || over === null) return;
    let turned = 0;
    let timer: number | undefined;
    const turn = (event: WheelEvent) => {
      if (!event.ctrlKey && !event.metaKey) return;
      event.preventDefault(); // else the browser zooms the page
      turned += Math.sign(event.deltaY);
      const area = within.getBoundingClientRect();
      const around = Math.min(1, Math.max(0, (event.clientX - area.left) / area.width));
      timer ??= window.setTimeout(() => {
        const { period: now, onPeriod: give } = latest.current;
        give(zoomed(now, around, 1.3 ** turned));
        turned = 0;
        timer = undefined;
      }, GATHERED);
    };
    over.addEventListener("wheel", turn, { passive: false });
    return () => {
      over.removeEventListener("wheel", turn);
      window.clearTimeout(timer);
    };
  }, [tracks, box]);
}
