// The columns that the timeline, the marks of streams and all charts share, so that one instant is one column of the
// page. All are CSS pixels.

/** pad is the room right of what is drawn over time. */
export const pad = 30;
/** axisWidth is the room for a chart's values, left of its plot. */
export const axisWidth = 72;
const labels = 290;

/** narrow: labels have a line of their own above what they name. page.css has the same bound, with the page's margins. */
export function narrow(wide: number): boolean {
  return wide < 640;
}

/** gutterOf is the room left of what is drawn in a box of this width. */
export function gutterOf(wide: number): number {
  return narrow(wide) ? axisWidth : labels;
}
