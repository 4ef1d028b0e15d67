// Everything together: read the data, paint when something has changed.

const data = JSON.parse(document.getElementById("data").textContent);
const canvas = document.getElementById("picture"), trouble = document.getElementById("trouble");
const motion = readMotion(data);
let waits = false, last = 0, theme = readTheme();
const changed = () => {
  if (!waits) requestAnimationFrame((now) => tick(now));
  waits = true;
};

const boxes = Object.fromEntries(["traces", "joints", "inertia", "reactions", "applied", "axes", "names", "grid"].map((name) => [name, document.getElementById(`show-${name}`)]));
const follow = document.getElementById("follow");
follow.checked = data.travels;
boxes.inertia.parentElement.hidden = !data.solids.some((solid) => solid.group === "inertia");
boxes.traces.checked = data.traced.length <= MANY;
boxes.reactions.parentElement.hidden = !data.joints.length;
boxes.applied.parentElement.hidden = !data.loads.length;
boxes.applied.checked = data.loads.length > 0;
document.getElementById("shown").addEventListener("change", changed);

const middle = (poses) => times(1 / poses.length, poses.reduce((sum, pose) => add(sum, pose.p), [0, 0, 0]));
const first = middle(motion.poses(motion.find(motion.start)));
const whole = times(0.5, add(data.low, data.high)), radius = norm(sub(data.high, data.low)) / 2;
const home = {
  target: data.travels ? first : whole,
  distance: (data.travels ? 0.75 * data.size : Math.max(radius, 0.5 * data.size)) * 0.98 / Math.sin(ANGLE / 2),
  azimuth: data.view[0], elevation: data.view[1],
};
const camera = makeCamera(canvas, home, changed);
document.getElementById("home").addEventListener("click", () => camera.reset());

// How many times larger deformations are drawn; the data have a factor of their own.
const deformation = (() => {
  const slider = document.getElementById("deformation"), text = slider.nextElementSibling;
  const own = data.enlarged, used = data.carried.length > 0 && own > 0;
  slider.parentElement.hidden = !used;
  slider.value = used ? Math.log10(own) : 0;
  const times = () => Number((10 ** parseFloat(slider.value)).toPrecision(2));
  const say = () => { text.textContent = `× ${times()}`; };
  slider.addEventListener("input", () => { say(); changed(); });
  say();
  return { factor: () => (used ? times() / own : 1) };
})();

const player = makePlayer(motion, data.pace, camera, changed);
// Nodes have the name of their rod, at its end; a beam or flexible body has its own at its frame, and its places follow it.
const known = data.bodies.map((body, at) => ({ ...body, at, members: [at] })).filter((body) => !body.part);
const rods = data.tubes.filter((tube) => !known.some((body) => body.name === tube.name));
for (const body of known)
  for (const [k, [by]] of data.carried) if (by === body.at) body.members.push(k);
const named = [...known, ...rods.map(({ name, colour, nodes }) => ({ name, colour, at: nodes[nodes.length - 1], members: nodes }))];
const visible = data.bodies.map(() => 1);
const label = makeLabels(document.getElementById("labels"), named);
const mark = makeChart(document.getElementById("energy"), data, motion);
fillLegend(document.querySelector("#legend ul"), named, visible, changed);
fillColours(document.getElementById("colours"), data.colours);
const roomy = window.innerWidth > 640;
document.getElementById("legend").open = roomy && window.innerHeight > 430;
document.getElementById("shown").open = roomy && window.innerHeight > 620;
// The address may ask for a time, and for the picture alone: page.html#t=1.5&bare
const asked = new URLSearchParams(location.hash.slice(1)), at = parseFloat(asked.get("t"));
document.body.classList.toggle("bare", asked.has("bare"));
player.set(Number.isFinite(at) ? at : motion.start);

const scales = arrowScales(data, motion), scale = makeScale(document.getElementById("scale"), scales);
let paint = makePicture(canvas, data, motion, scales);
if (!paint) {
  trouble.textContent = "This browser shows no pictures in space: WebGL 2 is missing or switched off. "
    + "The energy and the time can still be read; another browser, or hardware acceleration in the settings, will show the mechanism.";
  trouble.hidden = false;
}
canvas.addEventListener("webglcontextlost", (event) => event.preventDefault());
canvas.addEventListener("webglcontextrestored", () => { paint = makePicture(canvas, data, motion, scales); changed(); });
new ResizeObserver(changed).observe(canvas);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { theme = readTheme(); changed(); });

const pace = makePace();
let still = 0, sharp = false; // what rests for a while is painted as finely as it can be
let told = 0; // when numbers were written; where pictures come late, not for each of them
const tick = (now) => {
  waits = false;
  if (player.playing) player.advance(last ? Math.min(0.1, (now - last) / 1000) : 0);
  last = player.playing ? now : 0;
  const factor = deformation.factor(), moment = motion.find(player.now), poses = motion.poses(moment, factor);
  const view = camera.look(follow.checked ? sub(middle(poses), first) : [0, 0, 0]);
  const shown = Object.fromEntries(Object.entries(boxes).map(([name, box]) => [name, box.checked]));
  if (player.playing) pace.paint(now); else pace.rest();
  const level = sharp && !player.playing ? 0 : pace.level;
  if (paint) paint(moment, poses, view, shown, theme, visible, factor, LEVELS[level]);
  sharp = false;
  clearTimeout(still);
  if (level && !player.playing) still = setTimeout(() => { sharp = true; changed(); }, 200);
  label(poses, view, shown.names);
  scale(view, shown);
  if (player.playing && pace.level && now - told < 100) return;
  told = now;
  player.say();
  mark(player.now, moment);
};
changed();
