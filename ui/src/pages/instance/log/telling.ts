// Something that changes beside React, and tells of it: at once, or for what comes in a stream, ten times a second at most.
const SOON = 100;

export class Telling {
  /** Counts changes, so that whoever draws knows of them. */
  version = 0;
  private readonly heard = new Set<() => void>();
  private timer: ReturnType<typeof setTimeout> | undefined;

  subscribe = (hear: () => void): (() => void) => {
    this.heard.add(hear);
    return () => this.heard.delete(hear);
  };

  getVersion = (): number => this.version;

  protected tell(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.version += 1;
    this.heard.forEach((hear) => hear());
  }

  protected tellSoon(): void {
    this.timer ??= setTimeout(() => this.tell(), SOON);
  }
}
