// Time: play, pause, slider, speed, keyboard.

const SPEEDS = [1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];

const makePlayer = (motion, camera, changed) => {
  const [play, slider, clock, speed, loop] = ["play", "time", "clock", "speed", "loop"].map((id) => document.getElementById(id));
  const length = motion.end - motion.start;
  // As fast as life, unless that would take too long, or be over at once.
  const wanted = length >= 2 && length <= 40 ? 1 : length / 8 || 1;
  const nearest = SPEEDS.reduce((a, b) => Math.abs(Math.log(b / wanted)) < Math.abs(Math.log(a / wanted)) ? b : a);
  for (const value of SPEEDS) if (value >= nearest / 100 && value <= nearest * 100) {
    const option = new Option(`${value < 1 ? `1/${Math.round(1 / value)}` : value} ×`, value, false, value === nearest);
    speed.append(option);
  }
  const digits = Math.max(0, Math.min(7, 3 - Math.floor(Math.log10(length || 1))));
  const player = { now: motion.start, playing: false };

  const set = (t) => {
    player.now = Math.min(motion.end, Math.max(motion.start, t));
    slider.value = player.now;
    clock.textContent = `${player.now.toFixed(digits)} / ${motion.end.toFixed(digits)} s`;
    slider.setAttribute("aria-valuetext", `${player.now.toFixed(digits)} seconds`);
    changed();
  };
  const toggle = (on = !player.playing) => {
    player.playing = on && length > 0;
    if (player.playing && player.now >= motion.end) set(motion.start);
    play.setAttribute("aria-label", player.playing ? "Pause" : "Play");
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
    if (t < motion.end) return set(t);
    if (loop.checked) return set(motion.start + (t - motion.end) % (length || 1));
    set(motion.end);
    toggle(false);
  };
  player.set = set;
  return player;
};

