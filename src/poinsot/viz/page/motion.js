// Where everything is at a time: frames unpacked from text, and what lies between them.

const unpack = (text, Kind) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Kind(bytes.buffer);
};

const readMotion = (data) => {
  const time = unpack(data.time, Float32Array), bodies = data.bodies.length, joints = data.joints.length;
  const position = unpack(data.position, Float32Array), rotation = unpack(data.rotation, Int16Array);
  const forces = unpack(data.forces, Int16Array), last = time.length - 1;

  // The frame before a time, and the share of the way to the next.
  const find = (t) => {
    let low = 0, high = last;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (time[middle] <= t) low = middle; else high = middle;
    }
    if (last === 0) return { frame: 0, next: 0, share: 0 };
    return { frame: low, next: high, share: Math.min(1, Math.max(0, (t - time[low]) / (time[high] - time[low]))) };
  };
  const three = (array, k) => [array[3 * k], array[3 * k + 1], array[3 * k + 2]];
  const four = (k) => [0, 1, 2, 3].map((i) => rotation[4 * k + i] / 32767);

  return {
    time, start: time[0], end: time[last], find,
    poses: ({ frame, next, share }) => {
      const poses = [];
      for (let k = 0; k < bodies; k++) {
        const a = frame * bodies + k, b = next * bodies + k;
        poses.push({ p: mix(three(position, a), three(position, b), share), q: slerp(four(a), four(b), share) });
      }
      poses[-1] = { p: [0, 0, 0], q: [1, 0, 0, 0] }; // the ground
      return poses;
    },
    force: ({ frame, next, share }, joint) =>
      mix(three(forces, frame * joints + joint), three(forces, next * joints + joint), share),
    at: (frame, body) => three(position, frame * bodies + body),
    // The way of a body as segments, for drawing.
    path: (k) => segments(time.length, (frame) => three(position, frame * bodies + k)),
  };
};

const segments = (count, point) => {
  const lines = new Float32Array(6 * Math.max(0, count - 1));
  for (let k = 0; k + 1 < count; k++) {
    lines.set(point(k), 6 * k);
    lines.set(point(k + 1), 6 * k + 3);
  }
  return lines;
};

const placed = (poses, [body, local]) => add(poses[body].p, turn(poses[body].q, local));

