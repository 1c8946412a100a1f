// Small drawings.

import { shape } from "./dom.js";

const [LEFT, RIGHT] = [4, 116];

/** A value with its confidence interval on a scale that all rows of a table share; `reference` is marked by a line. */
export function intervalPlot(value, { low, high }, [from, to], reference = null) {
  const x = (at) => (LEFT + ((at - from) / (to - from || 1)) * (RIGHT - LEFT)).toFixed(1);
  const line = (x1, x2, y1, y2, kind) => shape("line", { class: kind, x1, x2, y1, y2 });
  return shape("svg", { class: "interval", viewBox: "0 0 120 18", width: 120, height: 18, "aria-hidden": "true" },
    reference !== null && line(x(reference), x(reference), 0, 18, "reference"),
    line(x(low), x(high), 9, 9), line(x(low), x(low), 5, 13), line(x(high), x(high), 5, 13),
    shape("circle", { cx: x(value), cy: 9, r: 3.6 }));
}

/** A range that has all the values, with some air. */
export function rangeOf(values) {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const air = (high - low) * 0.03 || 0.05;
  return [low - air, high + air];
}

/** Portions of a whole side by side: [count, kind] pairs. */
export function proportions(portions) {
  const total = portions.reduce((sum, [count]) => sum + count, 0) || 1;
  let x = 0;
  return shape("svg", { class: "proportion", viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
    portions.map(([count, kind]) => {
      const width = (count / total) * 100;
      x += width;
      return shape("rect", { class: kind, x: (x - width).toFixed(3), width: width.toFixed(3), y: 0, height: 4 });
    }));
}
