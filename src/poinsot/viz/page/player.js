// Time: play, pause, slider, speed, keyboard.

const makePlayer = (motion, pace, camera, changed) => {
  const [play, slider, clock, speed, loop] = ["play", "time", "clock", "speed", "loop"].map((id) => document.getElementById(id));
  const length = motion.end - motion.start;
  for (const factor of [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100]) {
    const value = Number((factor * pace).toPrecision(2));
    const text = value < 1 ? `1/${Number((1 / value).toPrecision(2))}` : value;
    speed.append(new Option(`${text} ×`, value, false, factor === 1));
  }
  const digits = Math.max(0, Math.min(7, 3 - Math.floor(Math.log10(length || 1))));
  const player = { now: motion.start, playing: false };

  player.say = () => {
    slider.value = player.now;
    clock.textContent = `${player.now.toFixed(digits)} / ${motion.end.toFixed(digits)} s`;
    slider.setAttribute("aria-valuetext", `${player.now.toFixed(digits)} seconds`);
  };
  const set = (t) => {
    player.now = Math.min(motion.end, Math.max(motion.start, t));
    player.say();
    changed();
  };
  const toggle = (on = !player.playing) => {
    player.playing = on && length > 0;
    if (player.playing && player.now >= motion.end) set(motion.start);
    play.setAttribute("aria-label", player.playing ? "Pause" : "Play");
    player.say();
    changed();
  };
  const step = (frames) => {
    toggle(false);
    const { frame, next, share } = motion.find(player.now);
    const on = share > 0.999 ? next : frame;
    const k = frames > 0 ? on + frames : share > 0.001 && share < 0.999 ? on : on + frames;
    set(motion.time[Math.min(motion.time.length - 1, Math.max(0, k))]);
  };

  Object.assign(slider, { min: motion.start, max: motion.end });
  slider.addEventListener("input", () => set(parseFloat(slider.value)));
  play.addEventListener("click", () => toggle());
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target === speed) return;
    const far = Math.max(1, Math.round(motion.time.length / 100));
    const keys = event.shiftKey
      ? { ArrowLeft: () => camera.rotate(-0.1, 0), ArrowRight: () => camera.rotate(0.1, 0),
          ArrowUp: () => camera.rotate(0, 0.1), ArrowDown: () => camera.rotate(0, -0.1) }
      : { ArrowLeft: () => step(-1), ArrowRight: () => step(1), PageUp: () => step(far), PageDown: () => step(-far),
          Home: () => set(motion.start), End: () => set(motion.end), r: () => camera.reset() };
    const always = { "+": () => camera.zoom(0.9), "-": () => camera.zoom(1 / 0.9) };
    // A button or a box with the focus takes the space for itself.
    if (!event.target.closest("button, summary, input[type=checkbox]")) keys[" "] = () => toggle();
    const act = keys[event.key] || always[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });

  // Go on by the seconds that have passed since the last picture.
  player.advance = (seconds) => {
    const t = player.now + seconds * parseFloat(speed.value);
    if (t < motion.end || loop.checked) {
      player.now = t < motion.end ? t : motion.start + (t - motion.end) % (length || 1);
      return changed();
    }
    set(motion.end);
    toggle(false);
  };
  player.set = set;
  return player;
};

