// The energy over time, kind by kind, with a mark at the time that is shown.

const KINDS = { kinetic: "#d55e00", gravity: "#009e73", "springs and fields": "#cc79a7", total: "currentColor" };

const makeChart = (figure, data, motion) => {
  const NS = "http://www.w3.org/2000/svg", svg = document.createElementNS(NS, "svg");
  svg.setAttribute("viewBox", "0 0 100 100");
  svg.setAttribute("preserveAspectRatio", "none");
  const curves = Object.entries(data.energies).map(([kind, text]) => ({ kind, values: unpack(text, Float32Array) }))
    .filter(({ kind, values }) => kind === "total" || values.some((E) => E !== values[0]));
  const low = Math.min(...curves.map(({ values }) => values.reduce((a, b) => Math.min(a, b))));
  const high = Math.max(...curves.map(({ values }) => values.reduce((a, b) => Math.max(a, b))));
  const across = (t) => 100 * (t - motion.start) / (motion.end - motion.start || 1);
  const height = (E) => high > low ? 96 - 92 * (E - low) / (high - low) : 50;
  const caption = figure.querySelector("figcaption");
  for (const curve of curves) {
    const path = document.createElementNS(NS, "path"), name = document.createElement("span");
    const points = Array.from(curve.values, (E, k) => `${across(motion.time[k]).toFixed(2)} ${height(E).toFixed(2)}`);
    path.setAttribute("d", `M${points.join("L")}`);
    path.style.stroke = name.style.color = KINDS[curve.kind] || "#56b4e9";
    svg.append(path);
    curve.text = name;
    caption.append(name);
  }
  const mark = document.createElementNS(NS, "line");
  mark.setAttribute("y1", "0");
  mark.setAttribute("y2", "100");
  svg.append(mark);
  figure.append(svg);
  return (t, { frame, next, share }) => {
    for (const x of ["x1", "x2"]) mark.setAttribute(x, across(t).toFixed(2));
    for (const { kind, values, text } of curves) {
      const E = (1 - share) * values[frame] + share * values[next];
      const noise = 1e-9 * Math.max(Math.abs(low), Math.abs(high));
      text.textContent = `${kind} ${Math.abs(E) > noise ? E.toPrecision(4) : 0} J`;
    }
  };
};

