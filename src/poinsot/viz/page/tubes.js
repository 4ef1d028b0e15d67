// Beams and rods: a smooth tube through nodes, made anew for every picture.

const colourAt = (stops, shade) => {
  const at = Math.min(1, Math.max(0, shade)) * (stops.length - 1), k = Math.min(stops.length - 2, Math.floor(at));
  return mix(stops[k], stops[k + 1], at - k);
};

const makeTube = (tube, stops) => {
  const { nodes, lengths, sizes, axes, along, corners, normals } = tube, ring = corners.length;
  const shades = tube.shades && unpack(tube.shades, Uint8Array), plain = rgb(tube.colour);
  const size = 3 * ring * (along.length + 2);
  const surface = { vertices: new Float32Array(size), normals: new Float32Array(size), colours: new Float32Array(size) };
  const units = [[1, 0, 0], [0, 1, 0], [0, 0, 1]];

  // The axis is a cubic through the nodes, along the axes of their sections.
  const section = (poses, x) => {
    const e = Math.min(lengths.length - 1, Math.floor(x)), s = x - e, l = lengths[e], r = 1 - s;
    const [a, b] = [poses[nodes[e]], poses[nodes[e + 1]]];
    const [one, other] = [turn(a.q, units[axes[2]]), turn(b.q, units[axes[2]])];
    const sum = (...terms) => terms.reduce((total, [share, v]) => add(total, times(share, v)), [0, 0, 0]);
    const centre = sum([(1 + 2 * s) * r * r, a.p], [s * r * r * l, one], [s * s * (3 - 2 * s), b.p], [-s * s * r * l, other]);
    const tangent = unit(sum([6 * s * r / l, sub(b.p, a.p)], [r * (1 - 3 * s), one], [-s * (2 - 3 * s), other]));
    const across = mix(turn(a.q, units[axes[0]]), turn(b.q, units[axes[0]]), s);
    const first = unit(sub(across, times(dot(across, tangent), tangent)));
    return { centre, tangent, first, second: cross(tangent, first), width: [0, 1].map((k) => r * sizes[e][k] + s * sizes[e + 1][k]) };
  };
  const shade = ({ frame, next, share }, x) => {
    const at = (k) => {
      const e = Math.min(nodes.length - 2, Math.floor(x)), first = k * nodes.length + e;
      return (shades[first] + (x - e) * (shades[first + 1] - shades[first])) / 255;
    };
    return (1 - share) * at(frame) + share * at(next);
  };

  return (poses, moment) => {
    let place = 0;
    const put = (at, facing) => {
      const { centre, tangent, first, second, width } = at;
      const colour = shades ? colourAt(stops, shade(moment, at.x)) : plain;
      corners.forEach(([u, v], k) => {
        const [m, n] = normals[k];
        surface.vertices.set(add(centre, add(times(u * width[0], first), times(v * width[1], second))), place);
        surface.normals.set(facing ? times(facing, tangent) : add(times(m, first), times(n, second)), place);
        surface.colours.set(colour, place);
        place += 3;
      });
    };
    const rings = along.map((x) => ({ x, ...section(poses, x) }));
    put(rings[0], -1);
    for (const each of rings) put(each, 0);
    put(rings[rings.length - 1], 1);
    return surface;
  };
};

// What the colours mean: a bar from the least to the greatest value.
const fillColours = (figure, colours) => {
  figure.hidden = !colours;
  if (!colours) return;
  const [bar, low, label, high] = ["i", "span", "span", "span"].map((kind) => document.createElement(kind));
  bar.style.background = `linear-gradient(to right, ${colours.stops.join(", ")})`;
  low.textContent = Number(colours.low.toPrecision(3));
  high.textContent = Number(colours.high.toPrecision(3));
  label.textContent = `${colours.label} [${colours.unit}]`;
  figure.append(bar, low, label, high);
};
