// Where everything is at a time: frames unpacked from text, and what lies between them.

const unpack = (text, Kind) => {
  const bytes = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  return new Kind(bytes.buffer);
};

const readMotion = (data) => {
  const time = unpack(data.time, Float32Array), bodies = data.bodies.length, last = time.length - 1;
  const position = unpack(data.position, Float32Array), rotation = unpack(data.rotation, Int16Array);
  const reactions = unpack(data.reactions, Int16Array), loads = unpack(data.applied, Int16Array);

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

  // Weights of the positions at four frames: a cubic whose slopes are those of parabolas through three.
  const weights = ({ frame, next, share: s }) => {
    const before = Math.max(0, frame - 1), after = Math.min(last, next + 1), w = [0, 0, 0, 0];
    const slope = (factor, places, l, m, r) => {
      const d = time[m] - time[l], e = time[r] - time[m], [i, j, k] = places;
      if (!d || !e) { // at the first or last frame: the slope of the nearest interval
        const whole = time[r] - time[l];
        w[i] -= factor / whole;
        w[k] += factor / whole;
        return;
      }
      w[i] -= factor * e / (d * (d + e));
      w[j] += factor * (e - d) / (d * e);
      w[k] += factor * d / (e * (d + e));
    };
    const h = time[next] - time[frame];
    if (!h) return { frames: [frame, frame, frame, frame], w: [0, 1, 0, 0] };
    w[1] = (1 + 2 * s) * (1 - s) ** 2;
    w[2] = s * s * (3 - 2 * s);
    slope(h * s * (1 - s) ** 2, [0, 1, 2], before, frame, next);
    slope(-h * s * s * (1 - s), [1, 2, 3], frame, next, after);
    return { frames: [before, frame, next, after], w };
  };
  const placeInto = (p, k, { frames, w }) => {
    for (let i = 0; i < 3; i++) {
      let x = 0;
      for (let j = 0; j < 4; j++) x += w[j] * position[3 * (frames[j] * bodies + k) + i];
      p[i] = x;
    }
  };
  const turnInto = (q, a, b, share) => {
    let c = 0, size = 0;
    for (let i = 0; i < 4; i++) c += rotation[4 * a + i] * rotation[4 * b + i];
    c /= 32767 * 32767;
    const sign = c < 0 ? -1 : 1, angle = Math.acos(Math.min(1, Math.abs(c))), small = angle < 1e-3;
    const from = small ? 1 - share : Math.sin((1 - share) * angle) / Math.sin(angle);
    const to = sign * (small ? share : Math.sin(share * angle) / Math.sin(angle));
    for (let i = 0; i < 4; i++) {
      q[i] = from * rotation[4 * a + i] + to * rotation[4 * b + i];
      size += q[i] * q[i];
    }
    size = Math.sqrt(size);
    for (let i = 0; i < 4; i++) q[i] /= size;
  };

  const poses = data.bodies.map(() => ({ p: [0, 0, 0], q: [1, 0, 0, 0] }));
  poses[-1] = { p: [0, 0, 0], q: [1, 0, 0, 0] }; // the ground
  // Deformations in the frame of an elastic body, larger or smaller than they are.
  const deform = (factor) => data.carried.forEach(([k, by]) => {
    const from = placed(poses, by), q = poses[by[0]].q, own = poses[k];
    own.p = add(from, times(factor, sub(own.p, from)));
    own.q = product(q, scaled(product(inverse(q), own.q), factor));
  });

  const three = (array, k) => [array[3 * k], array[3 * k + 1], array[3 * k + 2]];
  const between = (array, count) => ({ frame, next, share }, k) =>
    mix(three(array, frame * count + k), three(array, next * count + k), share);
  // A trail has several points between two frames, where these are few.
  const fine = Math.max(1, Math.min(8, Math.ceil(600 / Math.max(1, last))));

  return {
    time, start: time[0], end: time[last], find,
    // All poses at a moment; they are the same objects each time.
    poses: (moment, deformation = 1) => {
      const place = weights(moment), { frame, next, share } = moment;
      for (let k = 0; k < bodies; k++) {
        placeInto(poses[k].p, k, place);
        turnInto(poses[k].q, frame * bodies + k, next * bodies + k, share);
      }
      if (deformation !== 1) deform(deformation);
      return poses;
    },
    reaction: between(reactions, data.joints.length),
    applied: between(loads, data.loads.length),
    // The way of a body as points, and how many of them are passed at a moment.
    path: (k) => {
      const points = new Float32Array(3 * (last * fine + 1)), p = [0, 0, 0];
      for (let at = 0; at <= last * fine; at++) {
        const frame = Math.min(Math.floor(at / fine), Math.max(0, last - 1));
        const moment = { frame, next: Math.min(last, frame + 1), share: last ? at / fine - frame : 0 };
        placeInto(p, k, weights(moment));
        points.set(p, 3 * at);
      }
      return points;
    },
    passed: ({ frame, share }) => frame * fine + Math.floor(share * fine),
    fine,
  };
};

const placed = (poses, [body, local]) => add(poses[body].p, turn(poses[body].q, local));
