// Laying out takes seconds when there is much of it: it is done beside the page, which stays usable meanwhile.
import { place, type Direction, type Place, type Shape } from "./layout";

export type Question = { shape: Shape; direction: Direction };
export type Answered = { places: Map<number, Place> };

self.onmessage = ({ data }: MessageEvent<Question>) => {
  const answered: Answered = { places: place(data.shape, data.direction) };
  self.postMessage(answered);
};
