import { useLayoutEffect, useState } from 'react';
import type { RefObject } from 'react';
import { ROW } from './heights.ts';

export interface Viewport {
  top: number;
  height: number;
  width: number;
  /** Width of a character in the element's font. */
  cell: number;
}

/** What an element shows of its content. It changes in steps of a few rows, so that not each pixel renders. */
export function useViewport(ref: RefObject<HTMLElement | null>): Viewport {
  const [viewport, setViewport] = useState<Viewport>({ top: 0, height: 0, width: 0, cell: 7.5 });
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return;
    const step = 2 * ROW;
    const read = () => {
      const top = Math.floor(element.scrollTop / step) * step;
      setViewport((last) =>
        last.top === top && last.height === element.clientHeight && last.width === element.clientWidth
          ? last
          : { ...last, top, height: element.clientHeight, width: element.clientWidth },
      );
    };
    const measure = () => {
      const cell = cellWidth(element);
      setViewport((last) => (last.cell === cell ? last : { ...last, cell }));
    };
    const observer = new ResizeObserver(read);
    observer.observe(element);
    element.addEventListener('scroll', read, { passive: true });
    read();
    measure();
    document.fonts.addEventListener('loadingdone', measure);
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', read);
      document.fonts.removeEventListener('loadingdone', measure);
    };
  }, [ref]);
  return viewport;
}

function cellWidth(element: HTMLElement): number {
  const probe = document.createElement('span');
  probe.textContent = '0'.repeat(100);
  probe.style.cssText = 'position:absolute;visibility:hidden';
  element.append(probe);
  const width = probe.getBoundingClientRect().width / 100;
  probe.remove();
  return width > 0 ? width : 7.5;
}
