// A scale for arrows: how long a round force, or torque, is on the screen.

const roundBelow = (x) => {
  const power = 10 ** Math.floor(Math.log10(x)), lead = x / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
};

const makeScale = (figure, scales) => {
  const row = (kind, unit) => {
    const item = document.createElement("div"), bar = document.createElement("i"), text = document.createElement("span");
    if (kind === "torque") bar.className = "double";
    item.append(bar, text);
    figure.append(item);
    return { kind, item, bar, text, unit };
  };
  const rows = [row("force", "N"), row("torque", "N m")];
  const LONGEST = 90; // pixels
  return (camera, shown) => {
    const lengths = scales(shown);
    for (const { kind, item, bar, text, unit } of rows) {
      const per = lengths[kind];
      item.hidden = !per;
      if (item.hidden) continue;
      const value = roundBelow(LONGEST * camera.pixel / per);
      bar.style.width = `${(value * per / camera.pixel).toFixed(1)}px`;
      text.textContent = `${Number(value.toPrecision(1))} ${unit}`;
    }
    figure.hidden = rows.every(({ item }) => item.hidden);
  };
};
