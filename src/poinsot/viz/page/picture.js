// The picture at a time: what is painted, in which order.

const readTheme = () => {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  const colours = Object.fromEntries(["above", "below", "grid", "edge", "reaction", "applied"].map((name) => [name, rgb(read(`--${name}`))]));
  return { ...colours, shadow: parseFloat(read("--shadow")) };
};

const gridLines = (spacing, half) => {
  const lines = [];
  for (let k = -half; k <= half; k++) {
    const at = k * spacing, end = half * spacing;
    lines.push(at, -end, 0, at, end, 0, -end, at, 0, end, at, 0);
  }
  return new Float32Array(lines);
};

// Round meshes have fewer triangles where they are small, and what is hardly seen is a speck [pixels of the screen].
const COARSER = { ball: ["bead", 24], cylinder: ["peg", 10] }, SPECK = 4;
// Outlines fade where they would cover a solid.
const outlineOf = (pixels, least) => Math.min(1, Math.max(0, (pixels - least) / 10));

// The length of an arrow [m] for each newton, or newton metre: the strongest that is shown is as long as the parts.
const arrowScales = (data, motion) => {
  const strongest = (of, count, kept = () => true) => {
    let most = 0;
    for (let frame = 0; frame < motion.time.length; frame++) for (let k = 0; k < count; k++)
      if (kept(k)) most = Math.max(most, norm(of({ frame, next: frame, share: 0 }, k)));
    return most;
  };
  const loads = data.loads.length, isForce = (k) => data.loads[k].kind === "force";
  const reaction = strongest(motion.reaction, data.joints.length) * data.reactionUnit;
  const force = strongest(motion.applied, loads, isForce) * data.appliedUnit;
  const torque = strongest(motion.applied, loads, (k) => !isForce(k)) * data.appliedUnit;
  const per = (most) => (most > 0 ? 0.4 * data.grain / most : 0);
  return (shown) => ({
    force: per(Math.max(shown.reactions ? reaction : 0, shown.applied ? force : 0)),
    torque: per(shown.applied ? torque : 0),
  });
};

const makePicture = (canvas, data, motion, scales) => {
  const gl = canvas.getContext("webgl2", { antialias: false, stencil: true, alpha: false });
  if (!gl) return null;
  const screen = makeScreen(gl, canvas), crowd = makeCrowd(gl);
  const sky = skyPainter(gl), solids = solidPainter(gl, data.meshes), lines = linePainter(gl);
  const edges = {};
  for (const [name, mesh] of Object.entries(data.meshes)) edges[name] = lines.outline(edgesOf(mesh));
  const { size, grain } = data, sun = unit([0.35, -0.45, 1.0]);
  const outlined = (part) => part.group === "body" && (part.mesh !== "cylinder" || part.scale[0] > 0.03 * grain);
  const parts = data.solids.map((solid) => ({ ...solid, colour: rgb(solid.colour), outlined: outlined(solid) }));
  const stops = data.colours && data.colours.stops.map(rgb);
  const tubes = data.tubes.map((tube, k) => {
    const mesh = `tube of ${k}`, fill = solids.store(mesh, unpack(tube.triangles, Uint16Array));
    return { ...STILL, mesh, fill, shape: makeTube(tube, stops), colour: rgb(tube.colour), opacity: 1, owner: tube.nodes[0] };
  });
  const skins = data.skins.map((skin, k) => {
    const mesh = `skin of ${k}`, fill = solids.store(mesh, unpack(skin.triangles, Uint16Array)), { body, opacity } = skin;
    return { mesh, fill, shape: makeSkin(skin), body, opacity, position: [0, 0, 0], rotation: [1, 0, 0, 0], scale: [1, 1, 1], colour: rgb(skin.colour) };
  });
  let traces = null;
  const trace = () => {
    const own = data.traced.map((k) => ({ k, colour: rgb(data.bodies[k].colour), line: lines.path(motion.path(k)), points: motion.path(k) }));
    const marked = Object.values(data.traces).map((path) => ({ colour: [0.5, 0.54, 0.6], line: lines.path(unpack(path, Float32Array)) }));
    return [...own, ...marked];
  };
  const tip = lines.path(new Float32Array(6));
  const XYZ = [[0.84, 0.15, 0.16], [0.17, 0.63, 0.17], [0.12, 0.35, 0.75]];
  const triad = [0, 1, 2].map((k) => lines.outline(new Float32Array([0, 0, 0, +(k === 0), +(k === 1), +(k === 2)])));
  const spacing = data.spacing, half = 15, grid = lines.outline(gridLines(spacing, half));
  const floorHeight = data.low[2] - 0.01 * size;
  const grey = rgb("#8b929c"), rubber = rgb("#7a8694");

  const bar = (mesh, a, b, width, colour, opacity = 1) => {
    const way = sub(b, a), length = norm(way);
    return { mesh, p: mix(a, b, 0.5), q: towards(way), scale: [width, width, length], colour, opacity };
  };
  const strut = ({ kind, a, b }, poses) => {
    const from = placed(poses, a), to = placed(poses, b);
    return kind === "spring" ? bar("spring", from, to, 0.055 * grain, rubber) : bar("cylinder", from, to, 0.012 * grain, grey);
  };
  // An arrow from a point; that of a torque has two heads.
  const arrow = (from, way, colour, heads = 1) => {
    const length = norm(way);
    if (length < 0.01 * grain) return [];
    const head = Math.min(0.06 * grain, 0.5 * length / heads), along = times(1 / length, way);
    const at = (x) => add(from, times(x, along));
    const tips = Array.from({ length: heads }, (_, k) => bar("cone", at(length - (k + 1) * head), at(length - k * head), 0.6 * head, colour));
    return [bar("cylinder", from, at(length - heads * head), 0.014 * grain, colour), ...tips];
  };
  const reaction = (joint, k, poses, moment, theme, per) =>
    arrow(placed(poses, joint.at), times(per.force * data.reactionUnit, motion.reaction(moment, k)), theme.reaction);
  const applied = (load, k, poses, moment, theme, per) => {
    const way = times(per[load.kind] * data.appliedUnit, motion.applied(moment, k));
    return arrow(placed(poses, load.at), way, theme.applied, load.kind === "force" ? 1 : 2);
  };

  // How large a solid is on the page [pixels].
  const pixels = ({ p, body, position }, size, poses, { toScreen: M, grain }) => {
    const [x, y, z] = body === undefined ? p : placed(poses, [body, position]);
    return size / (grain * Math.max(1e-9 * size, M[3] * x + M[7] * y + M[11] * z + M[15]));
  };
  // Opaque solids with the same mesh are painted together: first those with outlines, arrows last.
  const runs = new Map(), fresh = () => ({ outlined: [], plain: [], pins: [], first: 0, many: 0, thrown: 0, pinned: 0 });

  return (moment, poses, camera, shown, theme, visible, deformation, level) => {
    const wanted = { body: true, joint: shown.joints, inertia: shown.inertia }, dense = window.devicePixelRatio || 1;
    const opacity = (part) => part.opacity * (visible[part.owner ?? part.body] ?? 1);
    for (const tube of tubes) tube.fill(tube.shape(poses, moment));
    for (const skin of skins) skin.fill(skin.shape(moment, deformation));
    const per = scales(shown), arrows = [
      ...shown.reactions ? data.joints.flatMap((joint, k) => reaction(joint, k, poses, moment, theme, per)) : [],
      ...shown.applied ? data.loads.flatMap((load, k) => applied(load, k, poses, moment, theme, per)) : [],
    ];
    const clear = [];
    runs.forEach((run) => { run.outlined.length = run.plain.length = run.pins.length = 0; });
    const sort = (part) => {
      const o = opacity(part);
      part.outline = 1;
      if (o < 0.01) return;
      if (o < 1) { clear.push(part); return; }
      let { mesh } = part, edged = 0;
      if (edges[mesh]) {
        const [a, b, c] = part.scale, wide = Math.max(a, b), long = Math.max(wide, c);
        const seen = pixels(part, long, poses, camera), [coarser, limit] = COARSER[mesh] || [];
        if (part.group === "joint" && seen < 1) return;
        if (part.outlined) edged = part.outline = outlineOf(seen, level.outlines);
        if (mesh !== "box" && seen * dense < SPECK) mesh = "speck";
        else if (coarser && seen * dense * wide < limit * long) mesh = coarser;
      }
      if (!runs.has(mesh)) runs.set(mesh, fresh());
      const run = runs.get(mesh);
      (edged ? run.outlined : run.plain).push(part);
      if (part.group === "joint" && mesh !== "speck") run.pins.push(part);
    };
    for (const part of parts) if (wanted[part.group]) sort(part);
    for (const part of data.struts) sort(strut(part, poses));
    tubes.forEach(sort);
    skins.forEach(sort);
    runs.forEach((run) => { run.thrown = run.outlined.length + run.plain.length; }); // arrows throw no shadow
    arrows.forEach(sort);
    const away = (part) => norm(sub(part.body === undefined ? part.p : poses[part.body].p, camera.eye));
    const far = new Map(clear.map((part) => [part, away(part)]));
    clear.sort((a, b) => far.get(b) - far.get(a));

    // Everything that is painted is written down, then sent at once.
    crowd.clear();
    crowd.put(STILL, poses, 1);
    const snap = (x) => spacing * Math.round(x / spacing), reach = half * spacing;
    const centre = [snap(camera.target[0]), snap(camera.target[1]), floorHeight];
    const floor = crowd.put({ ...STILL, p: centre }, poses, 1);
    const put = (list) => list.forEach((part) => crowd.put(part, poses, opacity(part)));
    runs.forEach((run) => {
      run.first = crowd.count();
      put(run.outlined);
      put(run.plain);
      run.many = crowd.count() - run.first;
      put(run.pins);
    });
    const veils = crowd.count();
    put(clear);
    const axes = crowd.count();
    if (shown.axes)
      [{ ...poses[-1], long: 0.3 }, ...poses.map((pose) => ({ ...pose, long: 0.17 }))].forEach(({ p, q, long }) =>
        crowd.put({ p, q, scale: times(long * grain, [1, 1, 1]), colour: grey }, poses, 1));
    crowd.send();

    const view = { ...camera, ratio: screen.begin(level) };
    gl.disable(gl.BLEND);
    gl.depthMask(true);
    gl.clear(gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.depthMask(false);
    gl.disable(gl.DEPTH_TEST);
    sky(theme);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthFunc(gl.LEQUAL);

    const light = { sun, floorHeight };
    if (shown.grid) {
      // Each place of the floor is in the shade once, however much is above it.
      if (level.shadows && camera.eye[2] > floorHeight) {
        gl.enable(gl.STENCIL_TEST);
        gl.stencilFunc(gl.EQUAL, 0, 1);
        gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
        solids.begin(view, { ...light, shadow: theme.shadow });
        runs.forEach((run, mesh) => { if (run.thrown) solids.paint(mesh, run.first, run.thrown); });
        gl.disable(gl.STENCIL_TEST);
      }
      lines.begin(view);
      lines.paint(grid, floor, 1, { colour: theme.grid, opacity: 0.4, width: 0.6, centre, reach });
    }

    gl.depthMask(true);
    gl.disable(gl.BLEND);
    solids.begin(view, light);
    runs.forEach((run, mesh) => { if (run.many) solids.paint(mesh, run.first, run.many); });
    gl.enable(gl.BLEND);
    lines.begin(view);
    runs.forEach((run, mesh) => lines.paint(edges[mesh], run.first, run.outlined.length, { colour: theme.edge, opacity: 0.6 }));
    gl.depthMask(false);
    if (shown.traces) (traces ??= trace()).forEach(({ k, line, points, colour }) => {
      const strength = k === undefined ? 1 : visible[k];
      if (!strength) return;
      const look = { colour, width: 1.8, opacity: 0.9 * strength };
      const count = k === undefined ? moment.frame : motion.passed(moment);
      lines.follow(line, { ...look, count, fading: 1 });
      if (k === undefined) return;
      tip.fill(new Float32Array([...points.subarray(3 * count, 3 * count + 3), ...poses[k].p]));
      lines.follow(tip, look);
    });

    for (let k = 0; k < clear.length;) {
      let end = k;
      const { mesh } = clear[k];
      while (end < clear.length && clear[end].mesh === mesh) end++;
      solids.begin(view, light);
      solids.paint(mesh, veils + k, end - k, false);
      lines.begin(view);
      if (edges[mesh]) lines.paint(edges[mesh], veils + k, end - k, { width: 1.3 });
      k = end;
    }
    // Pins inside a body shine through.
    gl.depthFunc(gl.GREATER);
    solids.begin(view, { ...light, dimmed: 0.28 });
    runs.forEach((run, mesh) => { if (run.pins.length) solids.paint(mesh, run.first + run.many, run.pins.length, false); });
    gl.depthFunc(gl.LEQUAL);
    if (shown.axes) {
      lines.begin(view);
      triad.forEach((line, k) => lines.paint(line, axes, poses.length + 1, { colour: XYZ[k], width: 2.6 }));
    }
    screen.end(level);
  };
};
