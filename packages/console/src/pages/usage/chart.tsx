/** Bars by day. The table says the same to who does not see them. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

const HEIGHT = 160;
/** Steps of an axis without halves. */
const WHOLE = Array.from({ length: 10 }, (_, i) => [1, 2, 5].map((step) => step * 10 ** i)).flat();
const { bars } = uPlot.paths;

export interface Bars {
  days: readonly string[];
  values: readonly number[];
  /** There is no half of a value. */
  isWhole: boolean;
  /** A value in words. */
  show: (value: number) => string;
  /** What the drawing says. */
  label: string;
}

export function Chart({ days, values, isWhole, show, label }: Bars) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const holder = box.current!;
    // The colours of the theme, as they are when it is drawn.
    const ink = () => getComputedStyle(holder).color;
    const water = () => getComputedStyle(holder).getPropertyValue('outline-color');
    const axis = {
      stroke: ink,
      ticks: { show: false },
      font: '12px "Atkinson Hyperlegible Next", sans-serif',
    };
    const plot = new uPlot(
      {
        width: holder.clientWidth,
        height: HEIGHT,
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { time: false, range: [-0.5, days.length - 0.5] },
          y: { range: (_, _low, high) => [0, high > 0 ? high * 1.1 : 1] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            space: 72,
            size: 28,
            incrs: [1, 2, 7, 14, 30, 90, 365],
            values: (_, at) => at.map((i) => days[i] ?? ''),
          },
          {
            ...axis,
            size: 72,
            ...(isWhole && { incrs: WHOLE }),
            grid: { stroke: ink, width: 0.25 },
            values: (_, at) => at.map((value) => show(value)),
          },
        ],
        series: [{}, { fill: water, width: 0, paths: bars!({ size: [0.7, 40] }), points: { show: false } }],
      },
      [days.map((_, i) => i), [...values]],
      holder,
    );
    const redraw = () => plot.redraw(false, true);
    const size = new ResizeObserver(() => plot.setSize({ width: holder.clientWidth, height: HEIGHT }));
    size.observe(holder);
    const theme = new MutationObserver(redraw);
    theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', redraw);
    return () => {
      size.disconnect();
      theme.disconnect();
      dark.removeEventListener('change', redraw);
      plot.destroy();
    };
  }, [days, values, isWhole, show]);
  return (
    <div
      ref={box}
      role="img"
      aria-label={label}
      className="min-w-0 text-ink-3 outline-water"
      style={{ height: HEIGHT }}
    />
  );
}
