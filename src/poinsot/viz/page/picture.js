// The picture at a time: what is painted, in which order.

const readTheme = () => {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  const colours = Object.fromEntries(["grid", "edge", "reaction", "applied"].map((name) => [name, rgb(read(`--${name}`))]));
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
  const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: true });
  if (!gl) return null;
  const solids = solidPainter(gl, data.meshes), lines = linePainter(gl);
  const edges = {};
  for (const [name, mesh] of Object.entries(data.meshes)) edges[name] = lines.outline(edgesOf(mesh), solids.instances(name));
  const { size, grain } = data, sun = unit([0.35, -0.45, 1.0]);
  const outlined = (part) => part.group === "body" && (part.mesh !== "cylinder" || part.scale[0] > 0.03 * grain);
  // What has outlines comes first, so that these are painted for the first solids of each mesh.
  const parts = data.solids.map((solid) => ({ ...solid, colour: rgb(solid.colour), outlined: outlined(solid) }))
    .sort((a, b) => b.outlined - a.outlined);
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
  const frames = gl.createBuffer();
  const triad = [0, 1, 2].map((k) => lines.outline(new Float32Array([0, 0, 0, +(k === 0), +(k === 1), +(k === 2)]), frames));
  const spacing = data.spacing, half = 15, still = gl.createBuffer();
  const grid = lines.outline(gridLines(spacing, half), still);
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

  const fit = () => {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
  };

  // Solids with the same mesh are painted together.
  const runs = new Map();
  const write = (list, poses, opacity) => {
    const values = new Float32Array(STRIDE * list.length);
    list.forEach((part, k) => writeInstance(values, STRIDE * k, part, part.body === undefined ? null : poses[part.body], opacity(part)));
    return values;
  };
  const paintRun = (mesh, list, poses, opacity) => {
    solids.place(mesh, write(list, poses, opacity));
    solids.paint(mesh, list.length);
  };

  return (moment, poses, camera, shown, theme, visible, deformation) => {
    fit();
    const wanted = { body: true, joint: shown.joints, inertia: shown.inertia };
    const opacity = (part) => part.opacity * (visible[part.owner ?? part.body] ?? 1);
    for (const tube of tubes) tube.fill(tube.shape(poses, moment));
    for (const skin of skins) skin.fill(skin.shape(moment, deformation));
    const per = scales(shown), arrows = [
      ...shown.reactions ? data.joints.flatMap((joint, k) => reaction(joint, k, poses, moment, theme, per)) : [],
      ...shown.applied ? data.loads.flatMap((load, k) => applied(load, k, poses, moment, theme, per)) : [],
    ];
    const clear = [];
    runs.forEach((run) => { run.list.length = run.edged = run.thrown = 0; });
    const sort = (part) => {
      const o = opacity(part);
      if (o < 0.01) return;
      if (o < 1) { clear.push(part); return; }
      if (!runs.has(part.mesh)) runs.set(part.mesh, { list: [], edged: 0, thrown: 0 });
      const run = runs.get(part.mesh);
      run.list.push(part);
      if (part.outlined) run.edged = run.list.length;
    };
    for (const part of parts) if (wanted[part.group]) sort(part);
    for (const part of data.struts) sort(strut(part, poses));
    tubes.forEach(sort);
    skins.forEach(sort);
    runs.forEach((run) => { run.thrown = run.list.length; }); // arrows throw no shadow
    arrows.forEach(sort);

    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthFunc(gl.LEQUAL);
    runs.forEach((run, mesh) => { if (run.list.length) solids.place(mesh, write(run.list, poses, opacity)); });

    const light = { sun, floorHeight, shadow: 0 };
    if (shown.grid) {
      gl.depthMask(false);
      // Each place of the floor is in the shade once, however much is above it.
      if (camera.eye[2] > floorHeight) {
        gl.enable(gl.STENCIL_TEST);
        gl.stencilFunc(gl.EQUAL, 0, 1);
        gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
        solids.begin(camera, { ...light, shadow: theme.shadow });
        runs.forEach((run, mesh) => { if (run.thrown) solids.paint(mesh, run.thrown); });
        gl.disable(gl.STENCIL_TEST);
      }
      lines.begin(camera);
      const snap = (x) => spacing * Math.round(x / spacing), reach = half * spacing;
      const centre = [snap(camera.target[0]), snap(camera.target[1]), floorHeight];
      const floor = new Float32Array(STRIDE);
      writeInstance(floor, 0, { ...STILL, p: centre, colour: theme.grid }, null, 1);
      gl.bindBuffer(gl.ARRAY_BUFFER, still);
      gl.bufferData(gl.ARRAY_BUFFER, floor, gl.DYNAMIC_DRAW);
      lines.paint(grid, 1, { colour: theme.grid, opacity: 0.4, width: 0.6, centre, reach });
      gl.depthMask(true);
    }

    solids.begin(camera, light);
    runs.forEach((run, mesh) => { if (run.list.length) solids.paint(mesh, run.list.length); });
    lines.begin(camera);
    runs.forEach((run, mesh) => { if (run.edged) lines.paint(edges[mesh], run.edged, { colour: theme.edge, opacity: 0.45 }); });
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

    const away = (part) => norm(sub(part.body === undefined ? part.p : poses[part.body].p, camera.eye));
    const far = new Map(clear.map((part) => [part, away(part)]));
    clear.sort((a, b) => far.get(b) - far.get(a));
    for (let k = 0; k < clear.length;) {
      let end = k;
      while (end < clear.length && clear[end].mesh === clear[k].mesh) end++;
      const same = clear.slice(k, end), { mesh } = clear[k];
      solids.begin(camera, light);
      paintRun(mesh, same, poses, opacity);
      lines.begin(camera);
      if (edges[mesh]) lines.paint(edges[mesh], same.length, { width: 1.3 });
      k = end;
    }
    // Pins inside a body shine through.
    gl.depthFunc(gl.GREATER);
    solids.begin(camera, { ...light, dimmed: 0.28 });
    runs.forEach((run, mesh) => {
      const pins = run.list.filter((part) => part.group === "joint");
      if (pins.length) paintRun(mesh, pins, poses, opacity);
    });
    gl.depthFunc(gl.LEQUAL);
    if (shown.axes) {
      lines.begin(camera);
      const places = [{ ...poses[-1], long: 0.3 }, ...poses.map((pose) => ({ ...pose, long: 0.17 }))];
      const values = new Float32Array(STRIDE * places.length);
      places.forEach(({ p, q, long }, k) => writeInstance(values, STRIDE * k, { p, q, scale: times(long * grain, [1, 1, 1]), colour: grey }, null, 1));
      gl.bindBuffer(gl.ARRAY_BUFFER, frames);
      gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      triad.forEach((line, k) => lines.paint(line, places.length, { colour: XYZ[k], width: 2.6 }));
    }
    gl.depthMask(true);
  };
};
