"""Small robots that have whatever URDF and MJCF can hold, as texts."""

ARM = """
<robot name="arm">
  <material name="blue"><color rgba="0.1 0.2 0.8 0.5"/></material>
  <link name="world"/>
  <joint name="mount" type="fixed">
    <parent link="world"/><child link="base"/><origin xyz="0.1 0.2 0.3" rpy="0.1 -0.2 0.3"/>
  </joint>
  <link name="base">
    <inertial>
      <origin xyz="0 0 0.05" rpy="0.3 0.2 0.1"/><mass value="3"/>
      <inertia ixx="0.02" ixy="0.001" ixz="-0.002" iyy="0.03" iyz="0.0005" izz="0.025"/>
    </inertial>
  </link>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper"/><origin xyz="0 0.02 0.1" rpy="0.5 0 0.2"/>
    <axis xyz="0 2 1"/><limit lower="-1" upper="2" effort="20" velocity="3"/>
    <dynamics damping="0.3" friction="0.2"/>
  </joint>
  <link name="upper">
    <inertial>
      <origin xyz="0.2 0 0"/><mass value="2"/>
      <inertia ixx="0.002" ixy="0" ixz="0" iyy="0.03" iyz="0" izz="0.03"/>
    </inertial>
    <visual>
      <origin xyz="0.2 0 0"/><geometry><box size="0.4 0.05 0.05"/></geometry>
      <material name="blue"/>
    </visual>
    <collision><geometry><box size="0.4 0.05 0.05"/></geometry></collision>
  </link>
  <joint name="plate" type="fixed">
    <parent link="upper"/><child link="sensor"/><origin xyz="0.1 0.03 0" rpy="0 0.3 0"/>
  </joint>
  <link name="sensor">
    <inertial>
      <mass value="0.1"/>
      <inertia ixx="1e-4" ixy="0" ixz="0" iyy="1e-4" iyz="0" izz="1.5e-4"/>
    </inertial>
  </link>
  <joint name="wrist" type="continuous">
    <parent link="upper"/><child link="hand"/><origin xyz="0.4 0 0" rpy="0 0.4 0"/>
    <axis xyz="1 0 0"/>
  </joint>
  <link name="hand">
    <inertial>
      <origin xyz="0.05 0.01 0"/><mass value="0.5"/>
      <inertia ixx="0.001" ixy="0" ixz="0.0001" iyy="0.002" iyz="0" izz="0.0015"/>
    </inertial>
    <visual><geometry><cylinder radius="0.03" length="0.1"/></geometry></visual>
    <visual><geometry><sphere radius="0.04"/></geometry></visual>
  </link>
  <joint name="left" type="prismatic">
    <parent link="hand"/><child link="left finger"/><origin xyz="0.1 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-0.02" upper="0.04" effort="5" velocity="1"/>
  </joint>
  <link name="left finger">
    <inertial>
      <origin xyz="0.02 0 0"/><mass value="0.05"/>
      <inertia ixx="1e-5" ixy="0" ixz="0" iyy="2e-5" iyz="0" izz="2e-5"/>
    </inertial>
  </link>
  <joint name="right" type="prismatic">
    <parent link="hand"/><child link="right finger"/><origin xyz="0.1 0 0"/><axis xyz="0 -1 0"/>
    <limit lower="-0.02" upper="0.04" effort="5" velocity="1"/>
    <mimic joint="left" multiplier="0.5"/>
  </joint>
  <link name="right finger">
    <inertial>
      <origin xyz="0.02 0 0"/><mass value="0.05"/>
      <inertia ixx="1e-5" ixy="0" ixz="0" iyy="2e-5" iyz="0" izz="2e-5"/>
    </inertial>
  </link>
  <joint name="tip" type="fixed"><parent link="hand"/><child link="tool"/>
    <origin xyz="0.15 0 0"/></joint>
  <link name="tool"/>
  <transmission name="drive"><joint name="shoulder"/></transmission>
  <gazebo reference="hand"/>
</robot>
"""

#: A base without mass on a plane, and a gimbal of links without mass between two bodies.
FRAMES = """
<robot name="frames">
  <link name="ground plate"/>
  <joint name="slide" type="planar">
    <parent link="ground plate"/><child link="cart"/><axis xyz="0 0 1"/>
  </joint>
  <link name="cart">
    <inertial><origin xyz="0.1 0 0"/><mass value="2"/>
      <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.12" iyz="0.01" izz="0.15"/></inertial>
  </link>
  <joint name="yaw" type="continuous">
    <parent link="cart"/><child link="ring 1"/><origin xyz="0.2 0 0.3"/><axis xyz="0 0 1"/>
  </joint>
  <link name="ring 1"/>
  <joint name="pitch" type="continuous">
    <parent link="ring 1"/><child link="ring 2"/><axis xyz="0 1 0.5"/>
  </joint>
  <link name="ring 2"/>
  <joint name="roll" type="continuous">
    <parent link="ring 2"/><child link="ball"/><axis xyz="1 0 0"/>
  </joint>
  <link name="ball">
    <inertial><origin xyz="0.1 0.2 0"/><mass value="1"/>
      <inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.02" iyz="0" izz="0.015"/></inertial>
  </link>
</robot>
"""

TREE = """
<mujoco model="tree">
  <compiler angle="radian"/>
  <option gravity="1 2 -9.81"/>
  <default><geom density="500" contype="0" conaffinity="0"/></default>
  <worldbody>
    <body name="sled" pos="0.1 0.2 0.3" quat="1 0.1 0.2 0.3">
      <joint name="sled x" type="slide" axis="1 0 0" damping="0.5"/>
      <joint name="sled z" type="slide" axis="0 0 1" armature="0.3"/>
      <joint name="sled turn" axis="0 1 0" pos="0.1 0 0" stiffness="3" springref="0.4"/>
      <geom type="box" size="0.2 0.1 0.05" rgba="1 0 0 0.5"/>
      <site name="hook" pos="0 0 0.1"/>
      <body name="hip" pos="0.2 0 -0.1" euler="0.2 0 0">
        <joint name="hip x" axis="1 0 0" pos="0 0 0.05" armature="0.02" damping="0.1"/>
        <joint name="hip z" axis="0 0.1 1" pos="0 0 0.05"/>
        <joint name="hip y" axis="0 1 0" pos="0 0 0.05" range="-1 1" limited="true"/>
        <geom type="capsule" size="0.05" fromto="0 0 0 0.3 0 0"/>
        <body name="shin" pos="0.3 0 0">
          <joint name="knee a" axis="0 1 0"/>
          <joint name="knee b" axis="0 0 1" armature="0.01"/>
          <geom type="cylinder" size="0.04 0.1" pos="0.1 0 0"/>
          <body name="badge" pos="0 0.1 0"><geom type="ellipsoid" size="0.02 0.03 0.04"/></body>
        </body>
      </body>
      <body name="pod" pos="-0.3 0 0">
        <joint name="pod ball" type="ball" pos="0.05 0 0"/>
        <geom type="sphere" size="0.1"/>
        <body name="drill" pos="-0.1 0.02 0">
          <joint name="feed" type="slide" axis="1 0 0" pos="0 0.01 0"/>
          <joint name="spin" type="hinge" axis="1 0 0" pos="0 0.01 0" armature="0.001"/>
          <geom type="box" size="0.1 0.02 0.02" pos="0 0.02 0"/>
        </body>
      </body>
    </body>
    <body name="bird" pos="0 0 2">
      <freejoint name="sky"/>
      <inertial pos="0.01 0.02 0" mass="0.3" fullinertia="0.01 0.02 0.015 0.001 0.002 0.003"/>
      <body name="stage" pos="0.3 0 0">
        <joint name="stage y" type="slide" axis="0 1 0"/>
        <joint name="stage x" type="slide" axis="1 0 0"/>
        <geom type="box" size="0.05 0.05 0.01"/>
        <body name="table" pos="0 0 0.1">
          <joint name="table x" type="slide" axis="1 0 0"/>
          <joint name="table y" type="slide" axis="0 1 0"/>
          <joint name="table z" type="slide" axis="0 0 1"/>
          <geom type="box" size="0.05 0.05 0.01"/>
        </body>
      </body>
    </body>
  </worldbody>
  <actuator>
    <motor name="knee motor" joint="knee b" gear="5"/>
    <position name="feed servo" joint="feed" kp="20"/>
    <motor name="rocket" site="hook"/>
  </actuator>
  <sensor><jointpos name="encoder" joint="knee b"/></sensor>
  <keyframe><key name="squat" qpos="0.1 0.2 0.3  0.1 0.2 0.3  0.4 0.5  1 0 0 0  0.1 0.2
    0 0 3 1 0 0 0  0.1 0.2  0.1 0.2 0.3"/></keyframe>
</mujoco>
"""

#: A crank and a slider in space, with a rod on balls; its second end is on the slider by a loop.
SPATIAL_LOOP = """
<mujoco model="spatial">
  <worldbody>
    <body name="crank"><joint name="crank" axis="1 0 0"/>
      <inertial pos="0 0.05 0.1" mass="1" diaginertia="0.01 0.012 0.003"/>
      <body name="rod" pos="0 0 0.2"><joint name="rod" type="ball"/>
        <inertial pos="0.25 0 -0.1" mass="2" diaginertia="0.01 0.05 0.052"/>
      </body>
    </body>
    <body name="slider" pos="0.5 0 0"><joint name="slider" type="slide" axis="1 0.2 0"/>
      <inertial pos="0.01 0 0.02" mass="1.5" diaginertia="0.01 0.01 0.004"/>
    </body>
  </worldbody>
  <equality><connect name="close" body1="rod" body2="slider" anchor="0.5 0 -0.2"/></equality>
</mujoco>
"""
#: Two arms of five and four joints that hold one another by a weld.
HELD_HANDS = """
<mujoco model="hands">
  <worldbody>
    <body name="upper"><joint name="turn" axis="0 0 1"/>
      <inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.012 0.003"/>
      <body name="fore" pos="0 0 0.3"><joint name="bend" axis="0 1 0"/>
        <inertial pos="0.1 0 0.01" mass="0.7" diaginertia="0.001 0.01 0.01"/>
        <body name="hand" pos="0.3 0 0"><joint name="wrist" type="ball"/>
          <inertial pos="0.05 0.01 0" mass="0.4" diaginertia="0.001 0.002 0.0015"/>
        </body>
      </body>
    </body>
    <body name="cart" pos="0.6 0.1 0"><joint name="feed" type="slide" axis="0 1 0"/>
      <inertial pos="0 0 0.05" mass="2" diaginertia="0.02 0.02 0.02"/>
      <body name="mast" pos="0 0 0.1"><joint name="lean" axis="1 0 0"/>
        <inertial pos="0 0 0.1" mass="0.8" diaginertia="0.01 0.01 0.001"/>
        <body name="boom" pos="0 0 0.2"><joint name="swing" axis="0 0 1"/>
          <inertial pos="-0.1 0 0" mass="0.5" diaginertia="0.001 0.005 0.005"/>
          <body name="grip" pos="-0.2 -0.1 0"><joint name="nod" axis="0.3 1 0"/>
            <inertial pos="-0.03 0 0" mass="0.3" diaginertia="0.001 0.001 0.001"/>
          </body>
        </body>
      </body>
    </body>
  </worldbody>
  <equality><weld name="close" body1="hand" body2="grip"/></equality>
</mujoco>
"""

FOUR_BAR = """
<mujoco model="four-bar">
  <option gravity="0 0 -9.81"/>
  <worldbody>
    <body name="crank"><joint name="crank" axis="0 1 0"/>
      <inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.01 0.001"/>
      <body name="coupler" pos="0 0 0.2"><joint name="coupler" axis="0 1 0"/>
        <inertial pos="0.25 0 0" mass="2" diaginertia="0.001 0.05 0.05"/>
      </body>
    </body>
    <body name="rocker" pos="0.5 0 -0.1"><joint name="rocker" axis="0 1 0"/>
      <inertial pos="0 0 0.15" mass="1.5" diaginertia="0.01 0.01 0.001"/>
    </body>
  </worldbody>
  <equality>
    <connect name="close" body1="coupler" body2="rocker" anchor="0.5 0 0"/>
  </equality>
</mujoco>
"""
