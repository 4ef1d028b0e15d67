// The picture at a time: what is painted, in which order.

const readTheme = () => {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  return { grid: rgb(read("--grid")), edge: rgb(read("--edge")), force: rgb(read("--force")), shadow: parseFloat(read("--shadow")) };
};

const gridLines = (spacing, half) => {
  const lines = [];
  for (let k = -half; k <= half; k++) {
    const at = k * spacing, end = half * spacing;
    lines.push(at, -end, 0, at, end, 0, -end, at, 0, end, at, 0);
  }
  return new Float32Array(lines);
};

const makePicture = (canvas, data, motion) => {
  const gl = canvas.getContext("webgl2", { antialias: true, stencil: true, alpha: true });
  if (!gl) return null;
  const solids = solidPainter(gl, data.meshes), lines = linePainter(gl);
  const edges = {};
  for (const [name, mesh] of Object.entries(data.meshes)) edges[name] = lines.store(edgesOf(mesh));
  const parts = data.solids.map((solid) => ({ ...solid, colour: rgb(solid.colour) }));
  const stops = data.colours && data.colours.stops.map(rgb);
  const tubes = data.tubes.map((tube, k) => {
    const mesh = `tube of ${k}`, fill = solids.store(mesh, unpack(tube.triangles, Uint16Array));
    return { ...STILL, mesh, fill, shape: makeTube(tube, stops), colour: rgb(tube.colour), opacity: 1, group: "tube" };
  });
  const traces = data.traced.map((k) => ({ k, colour: rgb(data.bodies[k].colour), line: lines.store(motion.path(k)) }));
  for (const path of Object.values(data.traces)) {
    const points = unpack(path, Float32Array);
    const line = lines.store(segments(points.length / 3, (k) => points.subarray(3 * k, 3 * k + 3)));
    traces.push({ colour: [0.5, 0.54, 0.6], line });
  }
  const tip = lines.store(new Float32Array(6));
  const triad = [0, 1, 2].map((k) => lines.store(new Float32Array([0, 0, 0, +(k === 0), +(k === 1), +(k === 2)])));
  const spacing = data.spacing, half = 15;
  const grid = lines.store(gridLines(spacing, half));
  const { size, grain } = data, sun = unit([0.35, -0.45, 1.0]);
  const floorHeight = data.low[2] - 0.01 * size;
  const XYZ = [[0.84, 0.15, 0.16], [0.17, 0.63, 0.17], [0.12, 0.35, 0.75]];
  const grey = rgb("#8b929c"), rubber = rgb("#7a8694");

  const bar = (mesh, a, b, width, colour) => {
    const way = sub(b, a), length = norm(way);
    return { mesh, p: mix(a, b, 0.5), q: towards(way), scale: [width, width, length], colour, opacity: 1 };
  };
  const place = (part, poses) => {
    const pose = poses[part.body];
    return { ...part, p: add(pose.p, turn(pose.q, part.position)), q: product(pose.q, part.rotation) };
  };
  const strut = ({ kind, a, b }, poses) => {
    const from = placed(poses, a), to = placed(poses, b);
    return kind === "spring" ? bar("spring", from, to, 0.055 * grain, rubber) : bar("cylinder", from, to, 0.012 * grain, grey);
  };
  const arrow = (joint, k, poses, moment, theme) => {
    const force = times(data.forceScale, motion.force(moment, k)), length = norm(force);
    if (length < 0.01 * grain) return [];
    const from = placed(poses, joint.at), head = Math.min(0.06 * grain, 0.5 * length), to = add(from, force);
    const neck = add(to, times(-head / length, force));
    return [bar("cylinder", from, neck, 0.014 * grain, theme.force), bar("cone", neck, to, 0.6 * head, theme.force)];
  };

  const fit = () => {
    const ratio = window.devicePixelRatio || 1;
    const width = Math.round(canvas.clientWidth * ratio), height = Math.round(canvas.clientHeight * ratio);
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    gl.viewport(0, 0, width, height);
  };

  return (moment, poses, camera, shown, theme) => {
    fit();
    const wanted = { body: true, joint: shown.joints, inertia: shown.inertia };
    for (const tube of tubes) tube.fill(tube.shape(poses, moment));
    const all = [...parts.filter((part) => wanted[part.group]).map((part) => place(part, poses)),
      ...data.struts.map((part) => strut(part, poses)), ...tubes];
    const arrows = shown.forces ? data.joints.flatMap((joint, k) => arrow(joint, k, poses, moment, theme)) : [];
    const firm = all.filter((part) => part.opacity === 1), clear = all.filter((part) => part.opacity < 1);

    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT | gl.STENCIL_BUFFER_BIT);
    gl.enable(gl.DEPTH_TEST);
    gl.enable(gl.BLEND);
    gl.blendFuncSeparate(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA, gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    gl.depthFunc(gl.LEQUAL);

    const light = { sun, floorHeight, shadow: 0 };
    if (shown.grid) {
      gl.depthMask(false);
      // Each place of the floor is in the shade once, however much is above it.
      if (camera.eye[2] > floorHeight) {
        gl.enable(gl.STENCIL_TEST);
        gl.stencilFunc(gl.EQUAL, 0, 1);
        gl.stencilOp(gl.KEEP, gl.KEEP, gl.INCR);
        solids.begin(camera, { ...light, shadow: theme.shadow });
        for (const part of firm) solids.paint(part);
        gl.disable(gl.STENCIL_TEST);
      }
      lines.begin(camera);
      const snap = (x) => spacing * Math.round(x / spacing), reach = half * spacing;
      const centre = [snap(camera.target[0]), snap(camera.target[1]), floorHeight];
      lines.paint(grid, { place: { ...STILL, p: centre }, colour: theme.grid, opacity: 0.4, width: 0.6, centre, reach });
      gl.depthMask(true);
    }

    solids.begin(camera, light);
    for (const part of [...firm, ...arrows]) solids.paint(part);
    lines.begin(camera);
    const outlined = (part) => part.group === "body" && (part.mesh !== "cylinder" || part.scale[0] > 0.03 * grain);
    for (const part of firm.filter(outlined)) lines.paint(edges[part.mesh], { place: part, colour: theme.edge, opacity: 0.45 });
    if (shown.traces) traces.forEach(({ k, line, colour }) => {
      lines.paint(line, { colour, width: 1.8, count: moment.frame, fading: 1, opacity: 0.9 });
      if (k !== undefined && moment.frame !== moment.next) {
        tip.fill(new Float32Array([...motion.at(moment.frame, k), ...poses[k].p]));
        lines.paint(tip, { colour, width: 1.8, opacity: 0.9 });
      }
    });

    gl.depthMask(false);
    solids.begin(camera, light);
    const away = (part) => norm(sub(part.p, camera.eye));
    clear.sort((a, b) => away(b) - away(a)).forEach(solids.paint);
    // Pins inside a body shine through.
    gl.depthFunc(gl.GREATER);
    for (const part of all) if (part.group === "joint") solids.paint({ ...part, opacity: 0.28 });
    gl.depthFunc(gl.LEQUAL);
    lines.begin(camera);
    for (const part of clear) lines.paint(edges[part.mesh], { place: part, colour: part.colour, opacity: 0.85, width: 1.3 });
    if (shown.axes) for (const pose of [{ ...poses[-1], long: 0.3 }, ...poses.map((pose) => ({ ...pose, long: 0.17 }))])
      triad.forEach((line, k) => {
        const place = { p: pose.p, q: pose.q, scale: times(pose.long * grain, [1, 1, 1]) };
        lines.paint(line, { place, colour: XYZ[k], width: 2.6 });
      });
    gl.depthMask(true);
  };
};

