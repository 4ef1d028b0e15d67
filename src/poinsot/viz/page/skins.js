// Flexible bodies: surfaces that their elastic coordinates deform, made anew for every picture.

const makeSkin = (skin) => {
  const points = unpack(skin.points, Float32Array), modes = unpack(skin.modes, Float32Array);
  const of = unpack(skin.vertices, Uint16Array), triangles = unpack(skin.triangles, Uint16Array);
  const amplitudes = unpack(skin.amplitudes, Float32Array), k = modes.length / points.length;
  const moved = new Float32Array(points.length), plain = rgb(skin.colour);
  const vertices = new Float32Array(3 * of.length), normals = new Float32Array(3 * of.length);
  const colours = Float32Array.from(vertices, (_, i) => plain[i % 3]);

  const bend = ({ frame, next, share }, factor) => {
    const now = Array.from({ length: k }, (_, m) =>
      factor * ((1 - share) * amplitudes[k * frame + m] + share * amplitudes[k * next + m]));
    for (let i = 0; i < points.length; i++) {
      let x = points[i];
      for (let m = 0; m < k; m++) x += modes[k * i + m] * now[m];
      moved[i] = x;
    }
  };
  // The normal at a vertex is the mean of those of its triangles; painters make it a unit vector.
  const turn = () => {
    normals.fill(0);
    for (let t = 0; t < triangles.length; t += 3) {
      const [a, b, c] = [3 * triangles[t], 3 * triangles[t + 1], 3 * triangles[t + 2]];
      const ux = vertices[b] - vertices[a], uy = vertices[b + 1] - vertices[a + 1], uz = vertices[b + 2] - vertices[a + 2];
      const vx = vertices[c] - vertices[a], vy = vertices[c + 1] - vertices[a + 1], vz = vertices[c + 2] - vertices[a + 2];
      const nx = uy * vz - uz * vy, ny = uz * vx - ux * vz, nz = ux * vy - uy * vx;
      for (const at of [a, b, c]) { normals[at] += nx; normals[at + 1] += ny; normals[at + 2] += nz; }
    }
  };

  return (moment, factor) => {
    bend(moment, factor);
    for (let v = 0; v < of.length; v++) for (let i = 0; i < 3; i++) vertices[3 * v + i] = moved[3 * of[v] + i];
    turn();
    return { vertices, normals, colours };
  };
};
