// A scale for arrows: how long a round force, or torque, is on the screen.

const roundBelow = (x) => {
  const power = 10 ** Math.floor(Math.log10(x)), lead = x / power;
  return (lead >= 5 ? 5 : lead >= 2 ? 2 : 1) * power;
};

const makeScale = (figure, scales) => {
  const row = (kind, per, unit) => {
    const item = document.createElement("div"), bar = document.createElement("i"), text = document.createElement("span");
    if (kind === "torque") bar.className = "double";
    item.append(bar, text);
    figure.append(item);
    return { kind, item, bar, text, per, unit };
  };
  const rows = [row("force", scales.perNewton, "N"), row("torque", scales.perTorque, "N m")];
  const LONGEST = 90; // pixels
  return (camera, shown) => {
    const wanted = {
      force: (shown.reactions && scales.reaction) || (shown.applied && scales.force),
      torque: shown.applied && scales.torque,
    };
    for (const { kind, item, bar, text, per, unit } of rows) {
      item.hidden = !wanted[kind];
      if (item.hidden) continue;
      const value = roundBelow(LONGEST * camera.pixel / per);
      bar.style.width = `${(value * per / camera.pixel).toFixed(1)}px`;
      text.textContent = `${Number(value.toPrecision(1))} ${unit}`;
    }
    figure.hidden = rows.every(({ item }) => item.hidden);
  };
};
