// Solids with soft light, and their shadows, by WebGL 2: all solids of one mesh in one call.

// Where a solid is and what it looks like: four texels of a texture, which hold its fields.
const STRIDE = 16, TEXELS = STRIDE / 4, ROW = 256; // numbers and texels a solid, solids a row
const PLACED = `
    precision highp float;
    precision highp int;
    uniform highp sampler2D solids;
    uniform int first, copies, many;
    vec3 turn(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
    vec4 field(int k, int which) { return texelFetch(solids, ivec2(${TEXELS} * (k % ${ROW}) + which, k / ${ROW}), 0); }`;

const SOLID = {
  vertex: `#version 300 es
    ${PLACED}
    layout(location = 0) in vec3 vertex;
    layout(location = 1) in vec3 normal;
    layout(location = 2) in vec4 own; // colour of a vertex, opaque where it counts
    layout(location = 3) in float copy;
    uniform mat4 toScreen;
    uniform vec3 sun;
    uniform float floorHeight, shadow;
    out vec3 world, outward, tint;
    out float cover;
    void main() {
      int k = gl_InstanceID * copies + int(copy);
      if (k >= many) { gl_Position = vec4(0.0, 0.0, 2.0, 1.0); return; }
      vec4 position = field(first + k, 0), rotation = field(first + k, 1);
      vec3 scale = field(first + k, 2).xyz;
      world = position.xyz + turn(rotation, scale * vertex);
      if (shadow > 0.0) world -= sun * ((world.z - floorHeight) / sun.z);
      else {
        tint = pow(mix(field(first + k, 3).rgb, own.rgb, own.a), vec3(2.2));
        cover = position.w;
        outward = turn(rotation, normal / max(scale, vec3(1e-12)));
      }
      gl_Position = toScreen * vec4(world, 1.0);
    }`,
  fragment: `#version 300 es
    precision highp float;
    in vec3 world, outward, tint;
    in float cover;
    uniform vec3 eye, sun;
    uniform float dimmed;
    out vec4 shade;
    void main() {
      vec3 view = normalize(eye - world), n = normalize(outward);
      if (dot(n, view) < 0.0) n = -n;
      float sky = 0.5 + 0.5 * n.z;
      float key = max(0.0, dot(n, sun)), front = max(0.0, dot(n, view));
      float shine = pow(max(0.0, dot(n, normalize(sun + view))), 42.0);
      vec3 light = mix(vec3(0.30, 0.29, 0.31), vec3(0.46, 0.49, 0.54), sky) + 0.52 * key + 0.20 * front;
      float away = 1.0 - front, rim = away * away * away;
      shade = vec4(pow(tint * light + 0.13 * shine + 0.06 * rim, vec3(1.0 / 2.2)), min(1.0, dimmed * cover * (1.0 + 0.8 * rim)));
    }`,
};
// The same solids, flat on the floor.
const SHADOW = {
  vertex: SOLID.vertex,
  fragment: `#version 300 es
    precision highp float;
    uniform float shadow;
    out vec4 shade;
    void main() { shade = vec4(0.0, 0.0, 0.0, shadow); }`,
};
// What is behind everything: one triangle over the whole picture.
const SKY = {
  vertex: `#version 300 es
    out float height;
    void main() {
      vec2 corner = vec2(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0);
      height = 0.5 + 0.5 * corner.y;
      gl_Position = vec4(corner, 0.0, 1.0);
    }`,
  fragment: `#version 300 es
    precision mediump float;
    in float height;
    uniform vec3 above, below;
    out vec4 shade;
    void main() { shade = vec4(mix(below, above, height), 1.0); }`,
};

const compile = (gl, { vertex, fragment }, names) => {
  const program = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(kind);
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost())
    throw new Error(gl.getProgramInfoLog(program));
  const at = {};
  for (const name of names) at[name] = gl.getUniformLocation(program, name);
  return { program, at };
};

const rgb = (hex) => [1, 3, 5].map((k) => parseInt(hex.slice(k, k + 2), 16) / 255);

const skyPainter = (gl) => {
  const { program, at } = compile(gl, SKY, ["above", "below"]), none = gl.createVertexArray();
  return ({ above, below }) => {
    gl.useProgram(program);
    gl.uniform3fv(at.above, above);
    gl.uniform3fv(at.below, below);
    gl.bindVertexArray(none);
    gl.drawArrays(gl.TRIANGLES, 0, 3);
  };
};

// The solids of a picture, written one after the other and sent to the painters at once.
const makeCrowd = (gl) => {
  let values = new Float32Array(STRIDE * ROW), count = 0, picture = 0;
  // While the last picture is painted, the next one is written elsewhere.
  const textures = [0, 1, 2].map(() => {
    const texture = gl.createTexture();
    gl.bindTexture(gl.TEXTURE_2D, texture);
    for (const filter of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, filter, gl.NEAREST);
    return { texture, rows: 0 };
  });
  return {
    clear: () => { count = 0; },
    count: () => count,
    // A part of a body goes where its body is. Returns its place among the others.
    put: ({ p, q, body, position, rotation, scale, colour, outline = 1 }, poses, opacity) => {
      if (STRIDE * (count + 1) > values.length) {
        const more = new Float32Array(2 * values.length);
        more.set(values);
        values = more;
      }
      if (body !== undefined) {
        const pose = poses[body];
        p = add(pose.p, turn(pose.q, position));
        q = product(pose.q, rotation);
      }
      const at = STRIDE * count;
      values[at] = p[0]; values[at + 1] = p[1]; values[at + 2] = p[2]; values[at + 3] = opacity;
      values[at + 4] = q[0]; values[at + 5] = q[1]; values[at + 6] = q[2]; values[at + 7] = q[3];
      values[at + 8] = scale[0]; values[at + 9] = scale[1]; values[at + 10] = scale[2]; values[at + 11] = outline;
      values[at + 12] = colour[0]; values[at + 13] = colour[1]; values[at + 14] = colour[2];
      return count++;
    },
    send: () => {
      const wanted = values.length / (STRIDE * ROW), used = Math.ceil(count / ROW), next = textures[picture++ % textures.length];
      gl.bindTexture(gl.TEXTURE_2D, next.texture);
      if (next.rows < wanted) gl.texImage2D(gl.TEXTURE_2D, 0, gl.RGBA32F, TEXELS * ROW, next.rows = wanted, 0, gl.RGBA, gl.FLOAT, null);
      gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, TEXELS * ROW, used, gl.RGBA, gl.FLOAT, values);
    },
  };
};

// Painters do several small meshes with as little effort as one, so that each is stored many times.
const copiesOf = (vertices) => Math.max(1, Math.min(128, Math.floor(4096 / vertices)));

const repeated = (values, times) => {
  const all = new values.constructor(values.length * times);
  for (let k = 0; k < times; k++) all.set(values, k * values.length);
  return all;
};

// Paint some solids of the crowd by triangles of their mesh.
const paintCopies = (gl, at, { array, copies, count, kind }, first, many) => {
  gl.uniform1i(at.first, first);
  gl.uniform1i(at.copies, copies);
  gl.uniform1i(at.many, many);
  gl.bindVertexArray(array);
  gl.drawElementsInstanced(gl.TRIANGLES, count * Math.min(copies, many), kind, 0, Math.ceil(many / copies));
};

const solidPainter = (gl, meshes) => {
  const names = ["toScreen", "sun", "floorHeight", "shadow", "eye", "dimmed", "first", "copies", "many"];
  const lit = compile(gl, SOLID, names), flat = compile(gl, SHADOW, names), stored = {};
  let now = lit;
  gl.vertexAttrib4f(2, 0, 0, 0, 0);
  gl.vertexAttrib1f(3, 0);
  const fill = (target, values) => {
    gl.bindBuffer(target, gl.createBuffer());
    gl.bufferData(target, values, gl.STATIC_DRAW);
  };
  const attribute = (k, ...layout) => {
    gl.enableVertexAttribArray(k);
    gl.vertexAttribPointer(k, ...layout, 0, 0);
  };
  for (const [name, mesh] of Object.entries(meshes)) {
    const array = gl.createVertexArray(), vertices = unpack(mesh.vertices, Float32Array);
    const triangles = unpack(mesh.triangles, Uint16Array), size = vertices.length / 3, copies = copiesOf(size);
    gl.bindVertexArray(array);
    fill(gl.ARRAY_BUFFER, repeated(vertices, copies));
    attribute(0, 3, gl.FLOAT, false);
    fill(gl.ARRAY_BUFFER, repeated(unpack(mesh.normals, Int8Array), copies));
    attribute(1, 3, gl.BYTE, true);
    fill(gl.ARRAY_BUFFER, Uint8Array.from({ length: size * copies }, (_, v) => Math.floor(v / size)));
    attribute(3, 1, gl.UNSIGNED_BYTE, false);
    fill(gl.ELEMENT_ARRAY_BUFFER, repeated(triangles, copies).map((v, k) => v + size * Math.floor(k / triangles.length)));
    gl.bindVertexArray(null);
    stored[name] = { array, copies, count: triangles.length, kind: gl.UNSIGNED_SHORT, closed: mesh.closed };
  }
  return {
    begin: (camera, { sun, floorHeight, shadow = 0, dimmed = 1 }) => {
      now = shadow > 0 ? flat : lit;
      gl.useProgram(now.program);
      gl.uniformMatrix4fv(now.at.toScreen, false, camera.toScreen);
      gl.uniform3fv(now.at.eye, camera.eye);
      gl.uniform3fv(now.at.sun, sun);
      gl.uniform1f(now.at.floorHeight, floorHeight);
      gl.uniform1f(now.at.shadow, shadow);
      gl.uniform1f(now.at.dimmed, dimmed);
    },
    // Keep a surface whose points move, and have colours of their own.
    store: (name, triangles) => {
      const array = gl.createVertexArray(), buffers = [0, 1, 2].map(() => gl.createBuffer());
      gl.bindVertexArray(array);
      buffers.forEach((buffer, k) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
        attribute(k, 3, gl.FLOAT, false);
      });
      fill(gl.ELEMENT_ARRAY_BUFFER, triangles);
      gl.bindVertexArray(null);
      stored[name] = { array, copies: 1, count: triangles.length, kind: gl.UNSIGNED_SHORT, closed: false };
      return ({ vertices, normals, colours }) => [vertices, normals, colours].forEach((values, k) => {
        gl.bindBuffer(gl.ARRAY_BUFFER, buffers[k]);
        gl.bufferData(gl.ARRAY_BUFFER, values, gl.DYNAMIC_DRAW);
      });
    },
    // The inside of a closed surface is not seen where it is opaque.
    paint: (mesh, first, many, opaque = true) => {
      if (opaque && stored[mesh].closed) gl.enable(gl.CULL_FACE);
      paintCopies(gl, now.at, stored[mesh], first, many);
      gl.disable(gl.CULL_FACE);
    },
  };
};
